import { StringDecoder } from 'node:string_decoder';
import type { StringSink } from './json-string-scanner';

/** Keeps the text of one JSON string up to a limit, exactly as JSON.parse gives it, lone surrogates included. */
export class StringCapture implements StringSink {
  readonly #limit: number;
  readonly #whenEnded: (capture: StringCapture) => void;
  readonly #decoder = new StringDecoder('utf8');
  #captured = '';

  /** @param limit longest text that is kept, in UTF-16 code units */
  constructor(limit: number, whenEnded: (capture: StringCapture) => void = () => undefined) {
    this.#limit = limit;
    this.#whenEnded = whenEnded;
  }

  /** Whether the text is longer than the limit. */
  get tooLong(): boolean {
    return this.#captured.length > this.#limit;
  }

  /** The text, or its beginning if it is too long. */
  get value(): string {
    return this.#captured.slice(0, this.#limit);
  }

  /** The text, or its beginning and "…". */
  get shown(): string {
    return this.tooLong ? `${this.value}…` : this.#captured;
  }

  /** Makes the capture ready for another string. */
  clear(): void {
    this.#captured = '';
    this.#decoder.end();
  }

  text(bytes: Buffer, start: number, end: number): void {
    if (this.tooLong) return;
    // Four bytes of UTF-8 give at least one code unit, so the bytes left out here are beyond the limit.
    const mostBytes = 4 * (this.#limit + 2);
    this.#captured += this.#decoder.write(bytes.subarray(start, Math.min(end, start + mostBytes)));
  }

  escape(unit: number): void {
    if (!this.tooLong) this.#captured += String.fromCharCode(unit);
  }

  end(): void {
    this.#whenEnded(this);
  }
}

/** How many names are kept: enough to recognise an error document by. */
const mostNames = 5;

/** The names of a refused object's members, as far as an error message shows them. */
export class MemberNames {
  readonly #names: string[] = [];
  #hasMore = false;

  add(name: string): void {
    if (this.#names.length === mostNames) this.#hasMore = true;
    else this.#names.push(JSON.stringify(name).slice(1, -1));
  }

  /** The object, as part of a sentence. @param quote applied to each name */
  describe(quote: (name: string) => string): string {
    if (this.#names.length === 0) return 'an empty JSON object';
    return `a JSON object with members ${this.#names.map(quote).join(', ')}${this.#hasMore ? ', …' : ''}`;
  }
}
