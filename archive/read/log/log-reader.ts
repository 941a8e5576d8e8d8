import type { StringSink } from '../../format/json/json-string-scanner';
import { beginLog, followLog } from './follow-log';
import type { JoinedLog } from './joined-log';
import { LogEnd } from './log-end';
import { edgeBytes, markOf } from './log-lines';
import type { Seam } from './seam';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

const carriageReturns = Buffer.of(carriageReturn);

const seeds = [0xdeadbeef, 0x41c6ce57] as const;
/** A text that was read to its end, and how it follows the log that it was compared with. */
export interface ReadLog {
  /** Lines of the text. */
  readonly lines: number;
  /** Undefined without a log. */
  readonly seam: Seam | undefined;
  /** What is known of the log with this text. */
  readonly joined: JoinedLog;
}

/**
 * Reads the text of a log once, in any chunks, and compares it with the log so far. Lines are the bytes between LFs, whatever
 * they are: a CR before an LF is a part of the line end, and bytes need not be UTF-8. It keeps no byte: memory does not grow
 * with a line. As a sink it takes the text from the JSON string that it stands in: copying it before would take as long as
 * reading it. Half a surrogate pair, which UTF-8 cannot represent, is left out.
 */
export class LogReader implements StringSink {
  readonly #log: JoinedLog | undefined;
  readonly #end = new LogEnd();
  readonly #beginningBytes: number;
  readonly #character = Buffer.alloc(4);
  #beginning: number | undefined;
  #low: number = seeds[0];
  #high: number = seeds[1];
  /** Bytes of the line so far, without a CR that may belong to its line end; and the last of them that make no word of four. */
  #bytes = 0;
  #word = 0;
  #isCrPending = false;
  /** The first and the last {@link edgeBytes} bytes of the line. */
  #head = 0;
  #tail = 0;

  /** @param log what is known of the log so far */
  constructor(log?: JoinedLog) {
    this.#log = log;
    this.#beginningBytes = log?.isOpen === true ? (log.lines.lengths.at(-1) ?? 0) : 0;
  }

  /** A part of a text that is not written as a JSON string. */
  write(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, start);
      this.text(chunk, start, end < 0 ? chunk.length : end);
      if (end < 0) return;
      this.#endLine(false);
      start = end + 1;
    }
  }

  /** Bytes of a line. */
  text(bytes: Buffer, start: number, end: number): void {
    if (start === end) return;
    if (this.#isCrPending) {
      this.#add(carriageReturns, 0, 1);
      if (this.#bytes === this.#beginningBytes) this.#beginning = this.#hash();
    }
    this.#isCrPending = bytes[end - 1] === carriageReturn;
    const to = this.#isCrPending ? end - 1 : end;
    const missing = this.#beginningBytes - this.#bytes;
    const from = missing > 0 && start + missing <= to ? start + missing : start;
    if (from > start) {
      this.#add(bytes, start, from);
      this.#beginning = this.#hash();
    }
    this.#add(bytes, from, to);
  }

  escape(codePoint: number): void {
    if (codePoint === lineFeed) this.#endLine(false);
    else if (codePoint < 0xd800 || codePoint > 0xdfff) {
      const length = this.#character.write(String.fromCodePoint(codePoint));
      this.text(this.#character, 0, length);
    }
  }

  /** Call this once, after the text. One that ends with LF has no line behind it. */
  result(): ReadLog {
    if (this.#bytes > 0 || this.#isCrPending) this.#endLine(true);
    const end = this.#end;
    end.keepCompared();
    const { lines } = end;
    return this.#log === undefined
      ? { lines, seam: undefined, joined: beginLog(end) }
      : { lines, ...followLog(this.#log, end) };
  }

  /** Two multiplications for four bytes: gigabytes are hashed in the time in which gunzip gives half of one. */
  #add(bytes: Buffer, start: number, end: number): void {
    this.#addEdges(bytes, start, end);
    let at = start;
    while (at < end && (this.#bytes & 3) !== 0) {
      this.#addByte(bytes[at] as number);
      at += 1;
    }
    let low = this.#low;
    let high = this.#high;
    const rest = at;
    for (; at + 4 <= end; at += 4) {
      const word =
        (bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24);
      low = Math.imul(low ^ word, 0x9e3779b1);
      low = (low << 13) | (low >>> 19);
      high = Math.imul(high ^ word, 0x5f356495);
      high = (high << 17) | (high >>> 15);
    }
    this.#low = low;
    this.#high = high;
    this.#bytes += at - rest;
    for (; at < end; at += 1) this.#addByte(bytes[at] as number);
  }

  #addByte(byte: number): void {
    this.#word |= byte << (8 * (this.#bytes & 3));
    this.#bytes += 1;
    if ((this.#bytes & 3) !== 0) return;
    const word = this.#word;
    const low = Math.imul(this.#low ^ word, 0x9e3779b1);
    this.#low = (low << 13) | (low >>> 19);
    const high = Math.imul(this.#high ^ word, 0x5f356495);
    this.#high = (high << 17) | (high >>> 15);
    this.#word = 0;
  }

  /** Keeps the first and the last bytes of the line. */
  #addEdges(bytes: Buffer, start: number, end: number): void {
    if (this.#bytes === 0 && end - start >= edgeBytes) {
      this.#head = fourBytes(bytes, start);
      this.#tail = fourBytes(bytes, end - edgeBytes);
      return;
    }
    const headEnd = Math.min(end, start + edgeBytes - this.#bytes);
    for (let at = start; at < headEnd; at += 1) this.#head = (this.#head << 8) | (bytes[at] as number);
    for (let at = Math.max(start, end - edgeBytes); at < end; at += 1)
      this.#tail = (this.#tail << 8) | (bytes[at] as number);
  }

  /** Of the bytes of the line so far: 53 bits. */
  #hash(): number {
    const low = Math.imul(this.#low ^ this.#word, 0x9e3779b1) ^ this.#bytes;
    return mixed(low, Math.imul(this.#high ^ this.#word, 0x5f356495));
  }

  #endLine(isOpen: boolean): void {
    const mark = markOf(this.#isCrPending, this.#head, this.#tail);
    this.#end.line(this.#hash(), this.#bytes, mark, isOpen, this.#beginning);
    this.#low = seeds[0];
    this.#high = seeds[1];
    this.#bytes = 0;
    this.#word = 0;
    this.#isCrPending = false;
    this.#head = 0;
    this.#tail = 0;
    this.#beginning = undefined;
  }
}

function fourBytes(bytes: Buffer, at: number): number {
  const low = ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
  return ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | low;
}

/** 53 bits of two numbers of 32 bits, each of which reaches all of them. */
function mixed(a: number, b: number): number {
  const low = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  const high = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0);
}
