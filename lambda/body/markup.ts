/** How much of the content's beginning is judged, in bytes: enough for a licence comment before a page. */
export const beginningBytes = 16 * 1024;

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

const byteOrderMark = '\u00ef\u00bb\u00bf';
const spaces = /[\t\n\f\r ]*/y;
const htmlDoctype = /<!doctype[\t\n\f\r ]+html(?:[\t\n\f\r >]|$)/iy;
/** The doctype of XML, with declarations of its own or without. */
const otherDoctype = /<!doctype[\t\n\f\r ][^>[]*(?:\[[^\]]*\][^>[]*)?>/iy;
/** An element with its name and its attributes. */
const startTag = /<([a-z_][\w:.-]*)((?:[^"'>]|"[^"]*"|'[^']*')*)(?:>|$)/iy;
/** All of a text, if its first tag does not end. */
const openTag = /^[\t\n\f\r ]*<(?:[?!a-z][^>]*)?$/i;
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

/** S3, Azure and Google: `Error`; AWS: `ErrorResponse`; RFC 9457: `problem`. */
const errorElement = /^(?:\w+:)?(?:errors?|errorresponse|exception|fault|problem)$/i;
const withinError = /^(?:\w+:)?(?:errors?|code|message|type|title|status|detail|reason|faultcode|faultstring)$/i;
/** EC2: `Response` with `Errors`. */
const response = /^(?:\w+:)?response$/i;
const withinResponse = /^(?:\w+:)?errors?$/i;
/** SOAP. */
const envelope = /^(?:\w+:)?envelope$/i;
const soapFault = /<(?:\w+:)?body\b[^<>]*>\s*<(?:\w+:)?fault\b/i;

/**
 * Judges content by how it begins.
 * @param text the beginning, with one character per byte (Latin-1), so that the content's encoding does not matter
 * @returns undefined for anything but an HTML page or an error document in XML
 */
export function judgeMarkup(text: string): MarkupVerdict | undefined {
  const { end, isXml } = prologOf(text);
  if (matchAt(htmlDoctype, text, end) !== null) return page;
  const root = matchAt(startTag, text, end);
  if (root === null) return undefined;
  const [tag, name = '', attributes = ''] = root;
  const within = text.slice(end + tag.length);
  const first = firstElement(within);
  if (errorElement.test(name)) return withinError.test(first) ? xmlError : perhapsXmlError;
  if (response.test(name) && withinResponse.test(first)) return xmlError;
  if (envelope.test(name) && soapFault.test(within)) return xmlError;
  const html = name.toLowerCase();
  if (html === 'html') return page;
  // XML says so by a declaration or a namespace. HTML is written in small or in capital letters, not in both.
  if (isXml || namespace.test(attributes) || (name !== html && name !== name.toUpperCase())) return undefined;
  if (pageElements.test(html)) return page;
  if (partElements.test(html)) return perhapsPage;
  if (!outerElements.test(html)) return undefined;
  if (withinPage.test(first)) return page;
  return first === '' || partElements.test(first) ? perhapsPage : undefined;
}

/** What stands before the first element: white space, comments, processing instructions, XML's declaration and doctype. */
function prologOf(text: string): { end: number; isXml: boolean } {
  let isXml = false;
  let at = text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
  for (;;) {
    at += matchAt(spaces, text, at)?.[0].length ?? 0;
    const xmlDoctype = matchAt(htmlDoctype, text, at) === null ? matchAt(otherDoctype, text, at) : null;
    const closing = text.startsWith('<!--', at) ? '-->' : text.startsWith('<?', at) ? '?>' : undefined;
    if (xmlDoctype !== null || text.startsWith('<?xml', at)) isXml = true;
    if (xmlDoctype !== null) at += xmlDoctype[0].length;
    else if (closing === undefined) return { end: at, isXml };
    else {
      const end = text.indexOf(closing, at + 2);
      if (end === -1) return { end: text.length, isXml };
      at = end + closing.length;
    }
  }
}

/** Name of the element that a text begins with, in small letters; empty if it begins with none. */
function firstElement(text: string): string {
  return matchAt(startTag, text, prologOf(text).end)?.[1]?.toLowerCase() ?? '';
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/**
 * Whether XML ends too early: within its first tag, or, if it declares itself as XML, without the end of its first element.
 * @param beginning see {@link judgeMarkup}
 * @param ending the last part of the content, in the same way
 */
export function isXmlCutShort(beginning: string, ending: string): boolean {
  const isAll = beginning.length < beginningBytes;
  if (isAll && openTag.test(beginning)) return true;
  const { end, isXml } = prologOf(beginning);
  if (!isXml) return false;
  const [, name, attributes = ''] = matchAt(startTag, beginning, end) ?? [];
  if (name === undefined) return isAll;
  const last = ending.replace(trailing, '');
  // An element without content, or a comment behind the root that began before the ending.
  if (attributes.endsWith('/') || last.endsWith('-->')) return false;
  return /^<\/([\w:.-]+)\s*>$/.exec(last.slice(last.lastIndexOf('</')))?.[1] !== name;
}
