import type { StringSink } from '../body/json/json-string-scanner';
import type { LineReader } from './line-reader';

const lineFeed = 0x0a;

/**
 * Reads the lines of a text from the JSON string that it stands in, as UTF-8: copying it before would take as long as reading
 * it. Half a surrogate pair, which UTF-8 cannot represent, is left out.
 */
export class LineSink implements StringSink {
  readonly #lines: LineReader;
  readonly #character = Buffer.alloc(4);
  /** First half of a surrogate pair whose second half is still to come; 0 for none. */
  #highSurrogate = 0;

  constructor(lines: LineReader) {
    this.#lines = lines;
  }

  text(bytes: Buffer, start: number, end: number): void {
    this.#highSurrogate = 0;
    this.#lines.add(bytes, start, end);
  }

  escape(unit: number): void {
    const high = this.#highSurrogate;
    this.#highSurrogate = 0;
    if (unit === lineFeed) this.#lines.endLine();
    else if (unit < 0xd800 || unit > 0xdfff) this.#add(unit);
    else if (unit < 0xdc00) this.#highSurrogate = unit;
    else if (high !== 0) this.#add(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
  }

  invalidUtf8(): void {
    // They are text like any other.
  }

  end(): void {
    this.#lines.end();
  }

  #add(codePoint: number): void {
    const length = this.#character.write(String.fromCodePoint(codePoint));
    this.#lines.add(this.#character, 0, length);
  }
}
