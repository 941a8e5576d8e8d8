import { doubts, type Verdict } from './doubts';

const page = 'an HTML page';
const error = 'an error document in XML';

/** How much is judged from the first tag on, in bytes. */
const beginningBytes = 16 * 1024;

/** Bytes of what nobody sees, as blankBytes has them. */
const blanks = /^[\t\n\v\f\r \x80\x85\x8b\xa0\xa8\xa9\xbb\xbf\xc2\xe2\xe3\xef]+/;

/** A comment, a processing instruction, or a doctype other than HTML's, to its end. */
const prologPart = /^(?:<!(?=--)[\s\S]*?-->|<\?[\s\S]*?\?>|<!doctype (?!html[\t\n\f\r >])[^[>]*(?:\[[^\]]*\][^>]*)?>)/i;
/** How one begins whose end is still to come. */
const openPart = /^(?:<!--|<\?(?:xml)?|<!doctype (?!html(?:[\t\n\f\r >]|$))[^[>]{0,999}\[?)/i;
const declaration = /^<(?:\?xml|!doctype)/i;

/** An element with its name and its attributes. */
const startTag = /^<([a-z_][\w:.-]*)((?:[^"'>]|"[^"]*"|'[^']*')*)(?:>|$)/i;
const namespace = /\sxmlns(?::[\w.-]+)?\s*=\s*["']/;

/** Elements that begin a page and nothing else, each with a `>` behind its name. */
const pageElements = /^(?:(?:head|body)>)?(?:title|center|h[1-6])>/;
/** Begin a part of a page, or XML whose elements happen to have these names. */
const partElement = /^(?:head|body|div|p|pre|span|font|b|a|br|hr|img|table|ul|ol|form|iframe|meta|link|script|style)$/;

/** An element of an error. The contract does not show the service's errors: these are the words that there are for one. */
const errorElement = /^(?:\w+:)?(?:errors?|errorresponse|exception|fault|problem)$/i;
/** So many elements may stand before it: an envelope, its header and its body. */
const elementsBefore = 3;

/**
 * Content that may be an HTML page, or an error document in XML. What comes before its first tag is skipped however long it
 * is, in memory that does not grow: white space, comments, processing instructions, XML's declaration and doctype.
 */
export class Markup {
  /** From the first tag, or the first text, on. One character per byte (Latin-1), whatever the content's encoding is. */
  #text = '';
  /** Whether it declares itself as XML. */
  #isXml = false;

  write(content: Buffer): void {
    if (this.#text.length === beginningBytes) return;
    this.#text += content.toString('latin1');
    while (this.#skipsPart());
    const [opening] = openPart.exec(this.#text) ?? [];
    // Of a part without an end, the last two characters may begin its end. The space keeps them from ending it here.
    if (opening !== undefined && this.#text.length > 1024) this.#text = `${opening} ${this.#text.slice(-2)}`;
    this.#text = this.#text.slice(0, beginningBytes);
  }

  /** Whether it is an HTML page or an error document in XML. */
  get verdict(): Verdict {
    if (/^<!doctype/i.test(this.#text) && !openPart.test(this.#text)) return { refusal: page };
    const [tag = '', name, attributes = ''] = startTag.exec(this.#text) ?? [];
    if (name === undefined) return {};
    const next = [...this.#text.slice(tag.length).matchAll(/<([a-z_][\w:.-]*)/gi)].slice(0, elementsBefore);
    const names = [name, ...next.map(([, inner = '']) => inner)];
    // HTML is written in small or in capital letters, not in both.
    const [outer = '', inner = ''] = names.map((one) => (one === one.toUpperCase() ? one.toLowerCase() : one));
    const isXml = this.#isXml || namespace.test(attributes);
    const isPage = /^html$/i.test(name) || (!isXml && pageElements.test(`${outer}>${inner}>`));
    if (isPage) return { refusal: page };
    if (errorElement.test(name)) return { refusal: error };
    if (names.some((one) => errorElement.test(one))) return { doubt: doubts.markup(error) };
    return !isXml && partElement.test(outer) ? { doubt: doubts.markup(page) } : {};
  }

  /**
   * Whether it is XML that ends too early: before its first tag does, or, if it declares itself as XML, without the end of
   * its first element.
   * @param ending the last part of the content, with one character per byte (Latin-1)
   */
  isCutShort(ending: string): boolean {
    if (openPart.test(this.#text) || /^<(?:[!a-z][^>]*)?$/i.test(this.#text)) return this.#text.length < beginningBytes;
    if (!this.#isXml) return false;
    const [, name, attributes = ''] = startTag.exec(this.#text) ?? [];
    if (name === undefined || attributes.endsWith('/')) return name === undefined;
    return /<\/([\w:.-]+)\s*>\s*$/.exec(ending)?.[1] !== name;
  }

  /** Skips one part of what comes before the first tag. @returns whether there was one */
  #skipsPart(): boolean {
    // So that any space between "<!doctype" and its name is short.
    this.#text = this.#text.replace(blanks, '').replace(/^<!doctype[\t\n\f\r ]+/i, '<!doctype ');
    const [part] = prologPart.exec(this.#text) ?? [];
    if (part === undefined) return false;
    this.#isXml ||= declaration.test(part);
    this.#text = this.#text.slice(part.length);
    return true;
  }
}
