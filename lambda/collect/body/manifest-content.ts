import type { BodyFacts } from '../../../archive/format/resources';
import { type BodyCheck, InvalidBodyError } from './body-check';
import { doubts } from './doubts';
import { JsonContent } from './json-content';
import { Utf8Check } from './utf8-check';

/**
 * The bytes of white space, and of other characters that nobody sees, as UTF-8 writes them. An error behind them is an error
 * all the same, so they are skipped where content is judged; what is stored keeps them. Bytes and not characters: it does not
 * matter where the content is split.
 */
const blankBytes = new Set(Buffer.from('\t\n\v\f\r \u0085\u00a0\u200b\u2028\u2029\u3000\ufeff'));

/** How much of a content's beginning tells whether it is an HTML page, in bytes. */
const htmlBeginningBytes = 16 * 1024;

/** White space, comments and processing instructions: one piece of what may stand before a page's first tag. */
const prologPiece = /^(?:[\s\ufeff]+|<!(?=--)[\s\S]*?-->|<\?[\s\S]*?\?>)/;

const htmlTag = /^<(?:!doctype\s*)?html(?:[\s>]|$)/i;

/** Error pages without an html tag begin so, also within head or body. In declared XML, elements happen to have these names. */
const errorPageTag = /^<(?:(?:head|body(?: [^>]*)?)>\s*<)?(?:title|center|h[1-6])(?:\s[^>]*)?>/;

/**
 * Judges the content that is to be stored as a manifest. All that is known of a manifest is that it is a string. Refused is
 * content that is empty, an HTML page, or an error document in JSON. What is not certain becomes a doubt.
 */
export class ManifestContent implements BodyCheck {
  readonly isAsReceived = true;
  readonly #json = new JsonContent();
  /** From the first byte that shows something on. */
  readonly #beginning: Buffer[] = [];
  #beginningLength = 0;
  #isEmpty = true;
  readonly #utf8 = new Utf8Check();

  /** The first byte that shows something. */
  get first(): number | undefined {
    return this.#beginning[0]?.[0];
  }

  write(content: Buffer): Buffer {
    this.#isEmpty &&= content.length === 0;
    this.#utf8.write(content);
    // What stands behind blank bytes is judged as if it stood at the beginning, however many they are.
    const from = this.#beginningLength > 0 ? 0 : content.findIndex((byte) => !blankBytes.has(byte));
    if (from !== -1) this.#judge(content.subarray(from));
    return content;
  }

  /**
   * Call this once, after the last content.
   * @param doubt about how it came
   * @throws InvalidBodyError if the content is certainly not a manifest
   */
  end(doubt?: string): BodyFacts {
    const { isUtf8 } = this.#utf8;
    if (this.#isEmpty) throw new InvalidBodyError('The manifest is empty');
    if (this.#beginningLength === 0 && isUtf8) throw new InvalidBodyError('The manifest is nothing but whitespace');
    this.#json.end();
    const json = this.#json.verdict;
    const refusal = isHtmlPage(Buffer.concat(this.#beginning).toString()) ? 'an HTML page' : json.refusal;
    if (refusal !== undefined) throw new InvalidBodyError(`The manifest is ${refusal}`);
    const found = [doubt, isUtf8 ? undefined : doubts.notUtf8, json.doubt].filter((one) => one !== undefined);
    return found.length === 0 ? {} : { doubt: found.join('; ') };
  }

  #judge(content: Buffer): void {
    const missing = htmlBeginningBytes - this.#beginningLength;
    // Copied, because the caller may use the chunk again.
    if (missing > 0) this.#beginning.push(Buffer.from(content.subarray(0, missing)));
    this.#beginningLength += Math.min(missing, content.length);
    this.#json.write(content);
  }
}

/** Whether content is an HTML page. @param beginning of the content, its first {@link htmlBeginningBytes} */
function isHtmlPage(beginning: string): boolean {
  let text = beginning;
  // Piece by piece: a repeated group would try every way to divide the text.
  for (let piece = prologPiece.exec(text); piece !== null; piece = prologPiece.exec(text))
    text = text.slice(piece[0].length);
  return htmlTag.test(text) || (errorPageTag.test(text) && !/^\s*<\?xml/.test(beginning));
}
