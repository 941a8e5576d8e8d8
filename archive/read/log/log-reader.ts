import type { StringSink } from '../../format/json/json-string-scanner';
import type { JoinedLog } from './joined-log';
import { LogEnd } from './log-end';
import { edgeBytes, markOf } from './log-lines';
import { beginLog, followLog, type Seam } from './seam';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

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
  #bytes = 0;
  /** The first and the last {@link edgeBytes} bytes of the line, and the one before these. */
  #head = 0;
  #tail = 0;
  #beforeTail = 0;

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
      if (end < 0) break;
      if (this.#bytes === 0 && this.#beginningBytes === 0) this.#addLine(chunk, start, end);
      else {
        this.text(chunk, start, end);
        this.#endLine(false);
      }
      start = end + 1;
    }
    this.text(chunk, start, chunk.length);
  }

  /** A line that is in one piece, as nearly all are: this takes half the time. */
  #addLine(bytes: Buffer, start: number, lineFeedAt: number): void {
    const isCrLf = lineFeedAt > start && bytes[lineFeedAt - 1] === carriageReturn;
    const end = isCrLf ? lineFeedAt - 1 : lineFeedAt;
    let low: number = seeds[0];
    let high: number = seeds[1];
    for (let i = start; i < end; i += 1) {
      const byte = bytes[i] as number;
      low = Math.imul(low ^ byte, 0x9e3779b1);
      high = Math.imul(high ^ byte, 0x5f356495);
    }
    const hasEdges = end - start >= edgeBytes;
    const mark = hasEdges ? markOf(isCrLf, fourBytes(bytes, start), fourBytes(bytes, end - edgeBytes)) : isCrLf ? 1 : 0;
    this.#end.line(mixed(low, high), end - start, mark, false);
  }

  /** Bytes of a line. */
  text(bytes: Buffer, start: number, end: number): void {
    const missing = this.#beginningBytes - this.#bytes;
    const from = missing > 0 && start + missing <= end ? start + missing : start;
    if (from > start) {
      this.#add(bytes, start, from);
      this.#beginning = mixed(this.#low, this.#high);
    }
    this.#add(bytes, from, end);
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
    if (this.#bytes > 0) this.#endLine(true);
    const end = this.#end;
    end.keepCompared();
    const { lines } = end;
    return this.#log === undefined
      ? { lines, seam: undefined, joined: beginLog(end) }
      : { lines, ...followLog(this.#log, end) };
  }

  /** Two multiplications for a byte: more than a gigabyte is hashed in the time in which gunzip gives half of one. */
  #add(bytes: Buffer, start: number, end: number): void {
    let low = this.#low;
    let high = this.#high;
    for (let i = start; i < end; i += 1) {
      const byte = bytes[i] as number;
      low = Math.imul(low ^ byte, 0x9e3779b1);
      high = Math.imul(high ^ byte, 0x5f356495);
    }
    this.#low = low;
    this.#high = high;
    this.#addEdges(bytes, start, end);
    this.#bytes += end - start;
  }

  #addEdges(bytes: Buffer, start: number, end: number): void {
    if (this.#bytes === 0 && end - start > edgeBytes) {
      this.#head = fourBytes(bytes, start);
      this.#tail = fourBytes(bytes, end - edgeBytes);
      this.#beforeTail = bytes[end - edgeBytes - 1] as number;
      return;
    }
    const headEnd = Math.min(end, start + edgeBytes - this.#bytes);
    for (let i = start; i < headEnd; i += 1) this.#head = (this.#head << 8) | (bytes[i] as number);
    for (let i = Math.max(start, end - edgeBytes - 1); i < end; i += 1) {
      this.#beforeTail = this.#tail >>> 24;
      this.#tail = (this.#tail << 8) | (bytes[i] as number);
    }
  }

  #endLine(isOpen: boolean): void {
    const isCrLf = !isOpen && this.#bytes > 0 && (this.#tail & 0xff) === carriageReturn;
    if (isCrLf) this.#takeBackCarriageReturn();
    const hasEdges = this.#bytes >= edgeBytes;
    const mark = hasEdges ? markOf(isCrLf, this.#head, this.#tail) : isCrLf ? 1 : 0;
    this.#end.line(mixed(this.#low, this.#high), this.#bytes, mark, isOpen, this.#beginning);
    this.#low = seeds[0];
    this.#high = seeds[1];
    this.#bytes = 0;
    this.#head = 0;
    this.#tail = 0;
    this.#beforeTail = 0;
    this.#beginning = undefined;
  }

  /** Whether the last byte belongs to the line end is known at the LF alone. */
  #takeBackCarriageReturn(): void {
    // The inverses of the two factors, modulo 2^32.
    this.#low = Math.imul(this.#low, 0x0e8b2f51) ^ carriageReturn;
    this.#high = Math.imul(this.#high, 0x32c446bd) ^ carriageReturn;
    this.#bytes -= 1;
    this.#tail = (this.#tail >>> 8) | (this.#beforeTail << 24);
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
