import { isBlank } from './blank';

/** How much is judged from the first tag on, in bytes. */
export const beginningBytes = 16 * 1024;

const doctypeOfHtml = /^<!doctype[\t\n\f\r ]+html(?:[\t\n\f\r >]|$)/i;
const anyDoctype = /^<!doctype[\t\n\f\r ]/i;

/** What ends a comment, a processing instruction, a doctype, and the declarations within a doctype. */
const ends = { comment: /-->/, instruction: /\?>/, doctype: /[[>]/, declarations: /\]/ } as const;

/** What more bytes may turn into one of these is waited for. */
const openings = ['<!--', '<?xml', '<!doctype html ', '<!doctype html>'];

/**
 * The beginning of content from its first tag on. What comes before a tag is skipped however long it is, in memory that does
 * not grow: white space, comments, processing instructions, XML's declaration and doctype.
 */
export class MarkupBeginning {
  /** One character per byte (Latin-1), so that the content's encoding does not matter. */
  #text = '';
  #skipping: keyof typeof ends | undefined;
  #isFound = false;
  #isXml = false;

  write(content: Buffer): void {
    const room = beginningBytes - this.#text.length;
    if (this.#isFound) {
      if (room > 0) this.#text += content.toString('latin1', 0, room);
      return;
    }
    this.#text += content.toString('latin1');
    while (this.#skipsPart());
    this.#text = this.#text.slice(0, beginningBytes);
  }

  /** From the first tag, or from the first text, on; up to {@link beginningBytes}. */
  get text(): string {
    return this.#text;
  }

  /** Whether it declares itself as XML. */
  get isXml(): boolean {
    return this.#isXml;
  }

  /** Whether the content so far ends before its first tag does. */
  get isOpen(): boolean {
    if (this.#skipping !== undefined) return true;
    return this.#text.length < beginningBytes && /^<(?:[?!a-z][^>]*)?$/i.test(this.#text);
  }

  /** Skips one part of what comes before the first tag. @returns whether there is more to look at */
  #skipsPart(): boolean {
    if (this.#skipping !== undefined && !this.#skipsTo(this.#skipping)) return false;
    if (this.#skipping !== undefined) return true;
    let at = 0;
    while (isBlank(this.#text.charCodeAt(at))) at += 1;
    // So that any space between "<!doctype" and its name is short.
    this.#text = this.#text.slice(at).replace(/^(<!doctype)[\t\n\f\r ]+/i, '$1 ');
    this.#begin(this.#text.slice(0, 16).toLowerCase());
    return this.#skipping !== undefined;
  }

  /** Skips to the end of a part, and behind it. @returns whether that was found */
  #skipsTo(part: keyof typeof ends): boolean {
    const end = ends[part].exec(this.#text);
    // The longest end has three characters: two of them may have come.
    this.#text = end === null ? this.#text.slice(-2) : this.#text.slice(end.index + end[0].length);
    if (end?.[0] === '[') this.#skipping = 'declarations';
    else if (end?.[0] === ']') this.#skipping = 'doctype';
    else if (end !== null) this.#skipping = undefined;
    return end !== null;
  }

  /** Looks at what the text begins with. @param start its first characters, in small letters */
  #begin(start: string): void {
    if (openings.some((opening) => opening.length > start.length && opening.startsWith(start))) return;
    const isOtherDoctype = anyDoctype.test(this.#text) && !doctypeOfHtml.test(this.#text);
    if (start.startsWith('<!--')) this.#skipping = 'comment';
    else if (start.startsWith('<?')) this.#skipping = 'instruction';
    else if (isOtherDoctype) this.#skipping = 'doctype';
    else this.#isFound = true;
    if (isOtherDoctype || start.startsWith('<?xml')) this.#isXml = true;
    // What opens a comment may also end it: "<!-->".
    if (this.#skipping !== undefined) this.#text = this.#text.slice(2);
  }
}
