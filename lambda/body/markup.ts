import { MarkupBeginning } from './markup-beginning';

/** What content that begins with `<` is instead of a manifest. */
export interface MarkupVerdict {
  /** Part of a sentence. */
  readonly what: 'an HTML page' | 'an error document in XML';
  /** Whether it can be nothing else. */
  readonly isCertain: boolean;
}

const page: MarkupVerdict = { what: 'an HTML page', isCertain: true };
const perhapsPage: MarkupVerdict = { what: 'an HTML page', isCertain: false };
const xmlError: MarkupVerdict = { what: 'an error document in XML', isCertain: true };
const perhapsXmlError: MarkupVerdict = { what: 'an error document in XML', isCertain: false };

/** An element with its name and its attributes. */
const startTag = /^<([a-z_][\w:.-]*)((?:[^"'>]|"[^"]*"|'[^']*')*)(?:>|$)/i;
/** White space, comments and processing instructions at the end of a text. */
const trailing = /(?:[\t\n\f\r ]|<!--(?:(?!-->)[\s\S])*-->|<\?(?:(?!\?>)[\s\S])*\?>)+$/;
const namespace = /\sxmlns(?::[\w.-]+)?\s*=\s*["']/;

/** Begin a page and nothing else. */
const pageElements = /^(?:html|title|center|h[1-6])$/;
/** Begin a page, or XML whose elements happen to have these names: the first element within them tells. */
const outerElements = /^(?:head|body)$/;
const withinPage = /^(?:title|center|h[1-6]|meta|script|style|link|base|hr|br|img|form)$/;
/** Begin a part of a page, or other XML. */
const partElements =
  /^(?:a|b|base|blockquote|br|div|font|form|hr|i|iframe|img|li|meta|ol|p|pre|script|span|strong|style|table|u|ul)$/;

/** An element of an error. The contract does not show the service's errors: these are the words that there are for one. */
const errorElement = /^(?:\w+:)?(?:errors?|errorresponse|exception|fault|problem)$/i;
/** So many elements may stand around it: an envelope, its header and its body. */
const elementsAround = 3;

/** @returns undefined for anything but an HTML page or an error document in XML */
export function judgeMarkup({ text, isXml }: MarkupBeginning): MarkupVerdict | undefined {
  if (/^<!doctype/i.test(text)) return page;
  const [tag = '', name, attributes = ''] = startTag.exec(text) ?? [];
  if (name === undefined) return undefined;
  if (errorElement.test(name)) return xmlError;
  const within = text.slice(tag.length);
  if (firstElements(within, elementsAround).some((inner) => errorElement.test(inner))) return perhapsXmlError;
  const html = name.toLowerCase();
  if (html === 'html') return page;
  // XML says so by a declaration or a namespace. HTML is written in small or in capital letters, not in both.
  if (isXml || namespace.test(attributes) || (name !== html && name !== name.toUpperCase())) return undefined;
  if (pageElements.test(html)) return page;
  if (partElements.test(html)) return perhapsPage;
  if (!outerElements.test(html)) return undefined;
  const [first = ''] = firstElements(within, 1);
  if (withinPage.test(first)) return page;
  return first === '' || partElements.test(first) ? perhapsPage : undefined;
}

/** Names of the first elements that a text has one within or behind the other, without text between them. */
function firstElements(text: string, most: number): string[] {
  const beginning = new MarkupBeginning();
  beginning.write(Buffer.from(text, 'latin1'));
  const [tag, name] = startTag.exec(beginning.text) ?? [];
  if (most === 0 || tag === undefined || name === undefined) return [];
  return [name.toLowerCase(), ...firstElements(beginning.text.slice(tag.length), most - 1)];
}

/**
 * Whether XML ends too early: before its first tag does, or, if it declares itself as XML, without the end of its first element.
 * @param ending the last part of the content, with one character per byte (Latin-1)
 */
export function isXmlCutShort(beginning: MarkupBeginning, ending: string): boolean {
  if (beginning.isOpen) return true;
  if (!beginning.isXml) return false;
  const [, name, attributes = ''] = startTag.exec(beginning.text) ?? [];
  if (name === undefined) return true;
  const last = ending.replace(trailing, '');
  // An element without content, or a comment behind the root that began before the ending.
  if (attributes.endsWith('/') || last.endsWith('-->')) return false;
  return /^<\/([\w:.-]+)\s*>$/.exec(last.slice(last.lastIndexOf('</')))?.[1] !== name;
}
