import type { LineListener } from './line-reader';

/** Lines of a log that are kept for comparison, its last ones: 16 bytes each. */
export const mostCompared = 100_000;

/** The end of a log's text, as far as a later text is compared with it. */
export interface LogEnd {
  /** Lines of the whole text; a last one without LF counts. */
  readonly lines: number;
  /** Hashes of the last lines, oldest first. */
  readonly hashes: readonly number[];
  /** Bytes of the same lines, without their LF. */
  readonly bytes: readonly number[];
  /** The last line has no LF: it may go on. */
  readonly isOpen: boolean;
  /** Hash of all lines that have their LF. */
  readonly text: number;
}

/** Whether all lines of the text are there, so that the first one may be cut at its beginning. */
export function isWhole({ lines, hashes }: LogEnd): boolean {
  return hashes.length === lines;
}

/** Whether two texts are the same to their last byte. */
export function isSameText(a: LogEnd, b: LogEnd): boolean {
  return a.text === b.text && a.lines === b.lines && a.isOpen === b.isOpen && a.hashes.at(-1) === b.hashes.at(-1);
}

/** Keeps the last lines of a text. Arrays beside the heap would cost more than what is in them: most logs are short. */
export class LogEndKeeper implements LineListener {
  readonly #most: number;
  #lines = 0;
  #isOpen = false;
  #text = 0;
  readonly #hashes: number[] = [];
  readonly #bytes: number[] = [];

  /** @param most lines that are kept */
  constructor(most = mostCompared) {
    this.#most = most;
  }

  line(hash: number, bytes: number, isOpen: boolean, text: number): void {
    const at = this.#lines % this.#most;
    this.#hashes[at] = hash;
    this.#bytes[at] = bytes;
    this.#lines += 1;
    this.#isOpen = isOpen;
    this.#text = text;
  }

  /** The hash of one of the lines that are kept, counted from the text's first. */
  hashOf(line: number): number {
    return this.#hashes[line % this.#most] ?? 0;
  }

  /** Its bytes without its LF. */
  bytesOf(line: number): number {
    return this.#bytes[line % this.#most] ?? 0;
  }

  end(): LogEnd {
    const hashes = this.#inOrder(this.#hashes);
    const bytes = this.#inOrder(this.#bytes);
    return { lines: this.#lines, hashes, bytes, isOpen: this.#isOpen, text: this.#text };
  }

  #inOrder(ring: readonly number[]): readonly number[] {
    const oldest = this.#lines > this.#most ? this.#lines % this.#most : 0;
    return oldest === 0 ? ring : ring.slice(oldest).concat(ring.slice(0, oldest));
  }
}
