import type { LineListener } from './line-reader';

/** Lines of a log that are kept for comparison, its last ones: 16 bytes each. */
export const mostCompared = 100_000;

/**
 * The end of a log's text, as far as a later text is compared with it: its last lines, which count from the text's first. It
 * listens to a reader of that text. Arrays beside the heap would cost more than what is in them: most logs are short.
 */
export class LogEnd implements LineListener {
  readonly #most: number;
  /** By a line's number modulo the most that are kept. */
  readonly #hashes: number[];
  readonly #bytes: number[];
  #from = 0;
  #lines = 0;
  #isOpen = false;
  #text = 0;

  /** @param most lines that are kept */
  constructor(most = mostCompared, hashes: number[] = [], bytes: number[] = []) {
    this.#most = most;
    // An array that grows takes a third more than it needs, and an audit keeps one for each cluster.
    if (most < mostCompared) hashes.length = bytes.length = most;
    this.#hashes = hashes;
    this.#bytes = bytes;
  }

  /** Lines of the whole text; a last one without LF counts. */
  get lines(): number {
    return this.#lines;
  }

  /** The first line that is kept. */
  get from(): number {
    return this.#from;
  }

  /** The last line has no LF: it may go on. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Hash of all lines that have their LF. */
  get text(): number {
    return this.#text;
  }

  /** The hash of a line that is kept. */
  hashOf(line: number): number | undefined {
    return this.#hashes[line % this.#most];
  }

  /** Its bytes without its LF. */
  bytesOf(line: number): number {
    return this.#bytes[line % this.#most] ?? 0;
  }

  line(hash: number, bytes: number, isOpen: boolean, text: number): void {
    const at = this.#lines % this.#most;
    this.#hashes[at] = hash;
    this.#bytes[at] = bytes;
    this.#lines += 1;
    if (this.#lines > this.#most) this.#from += 1;
    this.#isOpen = isOpen;
    this.#text = text;
  }

  /** Tells the kept lines, with no hash of the text. */
  tell(listener: LineListener): void {
    for (let at = this.#from; at < this.#lines; at += 1) {
      const isOpen = this.#isOpen && at === this.#lines - 1;
      listener.line(this.hashOf(at) ?? 0, this.bytesOf(at), isOpen, Number.NaN, []);
    }
  }

  /** The same lines without an open one, as the end of a text that is not known from its beginning. */
  wholeLines(): LogEnd {
    const whole = new LogEnd(this.#most, this.#hashes, this.#bytes);
    whole.#from = this.#from;
    whole.#lines = this.#lines - (this.#isOpen ? 1 : 0);
    whole.#text = Number.NaN;
    return whole;
  }

  /** Forgets the text and keeps its memory for another one. */
  clear(): void {
    this.#from = 0;
    this.#lines = 0;
    this.#isOpen = false;
    this.#text = 0;
  }
}

/** Whether two texts are the same to their last byte. */
export function isSameText(a: LogEnd, b: LogEnd): boolean {
  const last = a.lines - 1;
  return a.text === b.text && a.lines === b.lines && a.isOpen === b.isOpen && a.hashOf(last) === b.hashOf(last);
}
