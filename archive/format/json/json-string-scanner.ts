import { StringDecoder } from 'node:string_decoder';
import type { JsonChunk } from './json-chunk';

/** Takes the text of one JSON string while it arrives. */
export interface StringSink {
  /** Bytes that stand in the document as they are. They need not be UTF-8, and may begin or end inside a character. */
  text(bytes: Buffer, start: number, end: number): void;
  /** One code point that is written as an escape, or as the two of a surrogate pair. Half a pair comes as it is. */
  escape(codePoint: number): void;
  /** @param offset of the closing quote in the document, in bytes */
  end?(offset: number): void;
}

/**
 * Keeps the text of one JSON string up to a limit, exactly as JSON.parse gives it, lone surrogates included. U+FFFD stands for
 * bytes that are not UTF-8.
 */
export class StringCapture implements StringSink {
  readonly #limit: number;
  readonly #whenEnded: (capture: StringCapture) => void;
  #captured = '';
  readonly #decoder = new StringDecoder();

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

  /** The text, or its beginning and "…", which half a surrogate pair does not precede. */
  get shown(): string {
    return this.tooLong ? `${this.value.replace(/[\ud800-\udbff]$/, '')}…` : this.#captured;
  }

  /** Makes the capture ready for another string. A decoder that has ended takes another text. */
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

  escape(codePoint: number): void {
    if (!this.tooLong) this.#captured += this.#decoder.end() + String.fromCodePoint(codePoint);
  }

  end(): void {
    this.#captured += this.#decoder.end();
    this.#whenEnded(this);
  }
}

/** Begins and ends a string. */
export const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;

/** Code unit by the letter of a two-character escape; -1 for other letters. */
const shortEscapes = new Int8Array(256).fill(-1);
for (const letter of '"\\/bfnrt') shortEscapes[letter.charCodeAt(0)] = JSON.parse(`"\\${letter}"`).charCodeAt(0);

/** Value by hexadecimal digit; -1 for other bytes. */
const hexDigits = new Int8Array(256).fill(-1);
for (const digit of '0123456789abcdefABCDEF') hexDigits[digit.charCodeAt(0)] = Number.parseInt(digit, 16);

/** The beginning of an escape, as far as it is one. */
const escapeBeginning = /^(?:\\(?:u[0-9a-fA-F]{0,3})?)?/;

/**
 * Scans the inside of a string.
 * @returns the index of its closing quote; if the string is still open, `to`, or where an escape begins that the chunk cuts: it
 * has to come again, whole
 * @throws JsonError
 */
export function scanString(chunk: JsonChunk, from: number, to: number, sink: StringSink | undefined): number {
  const { bytes } = chunk;
  let i = from;
  while (i < to) {
    const end = chunk.endOfText(i, to);
    if (end > i) sink?.text(bytes, i, end);
    if (end === to) return end;
    const byte = bytes[end];
    if (byte !== backslash) {
      if (byte === quote) return end;
      throw chunk.unexpected(end);
    }
    const short = shortEscapes[bytes[end + 1] as number];
    if (short !== undefined && short >= 0) {
      sink?.escape(short);
      i = end + 2;
      continue;
    }
    const unit = unitOf(bytes, end);
    if (unit >= 0 && (unit & 0xfc00) !== 0xd800) {
      sink?.escape(unit);
      i = end + 6;
    } else {
      i = scanPair(chunk, end, unit, sink);
      if (i === end) return end;
    }
  }
  return i;
}

/**
 * Scans an escape that begins a pair of surrogates, or is not complete, or is wrong.
 * @param high its code unit, as {@link unitOf} has it
 * @returns the index after the escape, or after both; its own if the chunk cuts it, or may cut the pair
 */
function scanPair(chunk: JsonChunk, at: number, high: number, sink: StringSink | undefined): number {
  const { bytes } = chunk;
  if (high < 0) {
    const end = endOfBeginning(bytes, at);
    if (end < bytes.length) throw chunk.unexpected(end);
    return at;
  }
  const next = at + 6;
  const low = bytes[next] === backslash ? unitOf(bytes, next) : -1;
  if ((low & 0xfc00) === 0xdc00) {
    sink?.escape(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
    return next + 6;
  }
  if (next + 6 > bytes.length && endOfBeginning(bytes, next) === bytes.length) return at;
  sink?.escape(high);
  return next;
}

/** @returns the code unit of the escape whose backslash stands at an index; negative if it is not complete, or not an escape */
function unitOf(bytes: Buffer, at: number): number {
  const letter = bytes[at + 1];
  if (letter !== letterU) return letter === undefined ? -1 : (shortEscapes[letter] as number);
  if (at + 6 > bytes.length) return -1;
  let unit = 0;
  // A byte that is not a digit gives -1, which makes the whole negative.
  for (let i = at + 2; i < at + 6; i += 1) unit = (unit << 4) | (hexDigits[bytes[i] as number] as number);
  return unit;
}

/** Where the beginning of an escape ends that is not complete, or where a byte cannot be part of an escape. */
function endOfBeginning(bytes: Buffer, at: number): number {
  const [beginning = ''] = escapeBeginning.exec(bytes.toString('latin1', at, at + 6)) ?? [];
  return at + beginning.length;
}
