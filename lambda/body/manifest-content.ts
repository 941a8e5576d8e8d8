import { InvalidBodyError } from './body-check';
import { endsWithError, judgeErrorText } from './error-text';
import { Utf8Check } from './json/utf8-check';
import { JsonContent } from './json-content';
import { beginningBytes, isXmlCutShort, judgeMarkup } from './markup';

/** Longest content that is judged as a text, in bytes: errors are short. */
const longestErrorText = 4096;

/** How much of the content's end is judged, in bytes: enough for the end tag of XML, or for an appended error. */
const endingBytes = 1024;

/**
 * Judges the content that is to be stored as a manifest. All that is known of a manifest is that it is a string, so
 * content is refused only if it can be nothing but an error, or nothing at all. What is not certain becomes a doubt.
 */
export class ManifestContent {
  readonly #json = new JsonContent();
  readonly #utf8 = new Utf8Check();
  readonly #beginning: Buffer[] = [];
  #ending: Buffer = Buffer.alloc(0);
  #length = 0;
  #isBlank = true;
  #isUtf8 = true;
  #hasNul = false;

  write(content: Buffer): void {
    const missing = beginningBytes - this.#length;
    // Copied, because the caller may use the chunk again.
    if (missing > 0) this.#beginning.push(Buffer.from(content.subarray(0, missing)));
    this.#ending = Buffer.concat([this.#ending, content.subarray(-endingBytes)]).subarray(-endingBytes);
    this.#length += content.length;
    this.#isBlank &&= content.every(isWhitespace);
    this.#isUtf8 &&= this.#utf8.write(content) === content.length;
    this.#hasNul ||= content.includes(0);
    this.#json.write(content);
  }

  /**
   * Call this after the last content.
   * @returns why it is not certain that the content is a whole manifest; undefined if nothing speaks against it
   * @throws InvalidBodyError if the content is certainly no manifest
   */
  end(): string | undefined {
    if (this.#length === 0) throw new InvalidBodyError('The manifest is empty');
    const bytes = Buffer.concat(this.#beginning);
    const beginning = bytes.toString('latin1');
    const markup = judgeMarkup(beginning);
    const errorText = this.#length > longestErrorText ? undefined : judgeErrorText(bytes.toString('utf8'));
    this.#json.end();
    const refusal =
      (this.#isBlank ? 'nothing but whitespace' : undefined) ??
      (markup?.isCertain ? markup.what : undefined) ??
      errorText?.refusal;
    if (refusal !== undefined) throw new InvalidBodyError(`The manifest is ${refusal}`);
    const error = this.#json.refusal;
    if (error !== undefined) throw new InvalidBodyError((quote) => `The manifest is ${error(quote)}`);
    const ending = this.#ending.toString('latin1');
    const isCutShort = isXmlCutShort(beginning, ending);
    const doubts = [
      this.#isUtf8 && this.#utf8.complete ? undefined : 'it has bytes that are not UTF-8',
      this.#hasNul ? 'it has bytes of value 0, which no text has' : undefined,
      markup && `it begins like ${markup.what}`,
      isCutShort ? 'it is XML that ends too early' : undefined,
      errorText?.doubt,
      endsWithError(ending) ? 'its last line is an error' : undefined,
      this.#json.doubt,
    ].filter((doubt) => doubt !== undefined);
    return doubts.length === 0 ? undefined : doubts.join('; ');
  }
}

/** Tab, line feed, vertical tab, form feed, carriage return, space. */
function isWhitespace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
