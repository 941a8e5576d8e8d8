import { isUtf8 } from 'node:buffer';
import type { BodyFacts } from '../resources';
import { type BodyCheck, InvalidBodyError, type Quote } from './body-check';
import { doubts } from './doubts';
import { endsWithError, judgeErrorText } from './error-text';
import { WholeCharacters } from './json/whole-characters';
import { JsonContent } from './json-content';
import { Markup } from './markup';

/** Longest content that is judged as a text, in bytes: errors are short. */
const longestErrorText = 4096;

/** How much of the content's end is judged, in bytes: enough for the end tag of XML, or for an appended error. */
const endingBytes = 1024;

/** The bytes of white space, and of other characters that nobody sees, as UTF-8 writes them. */
const blankBytes = new Set(Buffer.from('\t\n\v\f\r \u0085\u00a0\u200b\u2028\u2029\u3000\ufeff'));

/**
 * Judges the content that is to be stored as a manifest. All that is known of a manifest is that it is a string, so
 * content is refused only if it can be nothing but an error, or nothing at all. What is not certain becomes a doubt.
 */
export class ManifestContent implements BodyCheck {
  readonly isAsReceived = true;
  readonly #json: JsonContent;
  readonly #characters = new WholeCharacters();
  readonly #markup = new Markup();
  readonly #beginning: Buffer[] = [];
  #ending: Buffer = Buffer.alloc(0);
  #isEmpty = true;
  #isUtf8 = true;
  #hasNul = false;
  /** Bytes from the first one that shows something on, and up to the last one that does. */
  #length = 0;
  #visibleLength = 0;

  constructor(quote: Quote) {
    this.#json = new JsonContent(quote);
  }

  /** The first byte that shows something. */
  get first(): number | undefined {
    return this.#beginning[0]?.[0];
  }

  write(content: Buffer): Buffer {
    this.#isEmpty &&= content.length === 0;
    this.#isUtf8 &&= isUtf8(this.#characters.add(content));
    this.#hasNul ||= content.includes(0);
    // What stands behind blank bytes is judged as if it stood at the beginning, however many they are.
    const from = this.#length > 0 ? 0 : content.findIndex((byte) => !isBlank(byte));
    if (from !== -1) this.#judge(content.subarray(from));
    return content;
  }

  /**
   * Call this after the last content.
   * @param doubt about how it came
   * @throws InvalidBodyError if the content is certainly no manifest
   */
  end(doubt?: string): BodyFacts {
    const isUtf8 = this.#isUtf8 && this.#characters.rest.length === 0;
    if (this.#isEmpty) throw new InvalidBodyError('The manifest is empty');
    if (this.#length === 0 && isUtf8) throw new InvalidBodyError('The manifest is nothing but whitespace');
    this.#json.end();
    const markup = this.#markup.verdict;
    const isText = this.#visibleLength <= longestErrorText;
    const text = isText ? judgeErrorText(Buffer.concat(this.#beginning).toString('utf8')) : {};
    const json = this.#json.verdict;
    const refusal = markup.refusal ?? text.refusal ?? json.refusal;
    if (refusal !== undefined) throw new InvalidBodyError(`The manifest is ${refusal}`);
    const ending = this.#ending.toString('latin1');
    const found = [
      doubt,
      isUtf8 ? undefined : doubts.notUtf8,
      this.#hasNul ? doubts.zeroBytes : undefined,
      markup.doubt,
      this.#markup.isCutShort(ending) ? doubts.xmlCutShort : undefined,
      text.doubt,
      endsWithError(ending) ? doubts.errorAtEnd : undefined,
      json.doubt,
    ].filter((one) => one !== undefined);
    return found.length === 0 ? {} : { doubt: found.join('; ') };
  }

  #judge(content: Buffer): void {
    const missing = longestErrorText - this.#length;
    // Copied, because the caller may use the chunk again.
    if (missing > 0) this.#beginning.push(Buffer.from(content.subarray(0, missing)));
    this.#ending = Buffer.concat([this.#ending, content.subarray(-endingBytes)]).subarray(-endingBytes);
    const visible = content.findLastIndex((byte) => !isBlank(byte)) + 1;
    if (visible > 0) this.#visibleLength = this.#length + visible;
    this.#length += content.length;
    this.#markup.write(content);
    this.#json.write(content);
  }
}

/**
 * Whether a byte shows nothing. An error behind such bytes is an error all the same, so they are skipped where content is
 * judged; what is stored keeps them. Bytes and not characters: it does not matter where the content is split.
 */
function isBlank(byte: number): boolean {
  return blankBytes.has(byte);
}
