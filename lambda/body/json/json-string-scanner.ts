import { StringDecoder } from 'node:string_decoder';
import type { JsonChunk } from './json-chunk';

/** Takes the text of one JSON string while it arrives. */
export interface StringSink {
  /** Bytes of UTF-8 that stand in the document as they are. They may begin or end inside a character. */
  text(bytes: Buffer, start: number, end: number): void;
  /** One UTF-16 code unit that is written as an escape. The halves of a surrogate pair come one by one. */
  escape(unit: number): void;
  /** Bytes of the text are not UTF-8; `text` takes them too. A sink without this member refuses them. */
  invalidUtf8?(): void;
  /** @param offset of the closing quote in the document, in bytes */
  end(offset: number): void;
}

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

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;

/** Code unit by the letter of a two-character escape; -1 for no such escape. */
const shortEscapes = new Int8Array(256).fill(-1);
for (const [letter, unit] of Object.entries({
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
})) {
  shortEscapes[letter.charCodeAt(0)] = unit.charCodeAt(0);
}

/** Value by hexadecimal digit; -1 for no digit. */
const hexDigits = new Int8Array(256).fill(-1);
for (const digit of '0123456789abcdefABCDEF') hexDigits[digit.charCodeAt(0)] = Number.parseInt(digit, 16);

/** What stands behind a backslash, or the beginning of it. */
const escapeBegun = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{0,4})$/;

/** Scans the strings of a document one after the other, each from after its opening quote to its closing quote. */
export class JsonStringScanner {
  #sink: StringSink | undefined;
  #open = false;
  /** What was read behind a backslash; undefined if there is none, or its escape is complete. */
  #escape: string | undefined;

  /** Whether the closing quote is still to come. */
  get open(): boolean {
    return this.#open;
  }

  /** Whether the next byte is text of the string, rather than part of an escape. */
  get inText(): boolean {
    return this.#open && this.#escape === undefined;
  }

  /** Tells the sink of bytes that are not UTF-8. @returns whether it takes them */
  takesInvalidUtf8(): boolean {
    if (this.#sink?.invalidUtf8 === undefined) return false;
    this.#sink.invalidUtf8();
    return true;
  }

  /** The opening quote was read. */
  begin(sink: StringSink | undefined): void {
    this.#sink = sink;
    this.#open = true;
  }

  /**
   * @returns the index after the closing quote, or `to` if the string is still open there
   * @throws JsonError
   */
  scan(chunk: JsonChunk, from: number, to: number): number {
    const { bytes } = chunk;
    let i = this.#escape === undefined ? from : this.#scanEscape(chunk, from, to);
    while (i < to) {
      const end = chunk.endOfText(i, to);
      if (end > i) this.#sink?.text(bytes, i, end);
      if (end === to) return to;
      const byte = bytes[end];
      i = end + 1;
      if (byte === quote) {
        this.#open = false;
        this.#sink?.end(chunk.offset + end);
        return i;
      }
      if (byte !== backslash) throw chunk.unexpected(end);
      const unit = wholeEscape(bytes, i, to);
      if (unit >= 0) {
        this.#sink?.escape(unit);
        i += bytes[i] === letterU ? 5 : 1;
      } else {
        this.#escape = '';
        i = this.#scanEscape(chunk, i, to);
      }
    }
    return i;
  }

  /** Scans an escape that chunks split, or that is none. @returns the index after it, or `to` if it is not complete there */
  #scanEscape(chunk: JsonChunk, from: number, to: number): number {
    for (let i = from; i < to; i += 1) {
      const begun = this.#escape + String.fromCharCode(chunk.bytes[i] as number);
      if (!escapeBegun.test(begun)) throw chunk.unexpected(i);
      this.#escape = begun;
      if (begun.startsWith('u') && begun.length < 5) continue;
      this.#escape = undefined;
      this.#sink?.escape(wholeEscape(Buffer.from(begun), 0, begun.length));
      return i + 1;
    }
    return to;
  }
}

/**
 * Reads an escape from after its backslash. Nearly all escapes lie within one chunk, where this is enough.
 * @returns its code unit; negative if it is not complete before `to`, or is none
 */
function wholeEscape(bytes: Buffer, from: number, to: number): number {
  if (from >= to) return -1;
  const letter = bytes[from] as number;
  if (letter !== letterU) return shortEscapes[letter] as number;
  if (from + 5 > to) return -1;
  let unit = 0;
  // A byte that is no digit gives -1, which makes the whole negative.
  for (let i = from + 1; i <= from + 4; i += 1) unit = (unit << 4) | (hexDigits[bytes[i] as number] as number);
  return unit;
}
