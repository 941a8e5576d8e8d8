import type { LineListener } from './line-reader';

/** Lines of a log that are kept for comparison, its last ones: 12 bytes each. */
export const mostCompared = 100_000;

/** The end of a log's text, as far as a later text is compared with it. */
export interface LogEnd {
  /** Lines of the whole text; a last one without LF counts. */
  readonly lines: number;
  /** Hashes of the last lines, at most {@link mostCompared}, oldest first. */
  readonly hashes: Float64Array;
  /** Bytes of the same lines, without their LF. */
  readonly bytes: Float64Array | Uint32Array;
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

const firstCapacity = 1024;

/** Keeps the last lines of a text. */
export class LogEndKeeper implements LineListener {
  #lines = 0;
  #isOpen = false;
  #text = 0;
  #capacity: number;
  readonly #most: number;
  #hashes: Float64Array;
  #bytes: Float64Array;

  /** @param most lines that are kept */
  constructor(most = mostCompared) {
    this.#most = most;
    this.#capacity = Math.min(firstCapacity, most);
    this.#hashes = new Float64Array(this.#capacity);
    this.#bytes = new Float64Array(this.#capacity);
  }

  line(hash: number, bytes: number, isOpen: boolean, text: number): void {
    if (this.#lines === this.#capacity && this.#capacity < this.#most) this.#grow();
    const at = this.#lines % this.#capacity;
    this.#hashes[at] = hash;
    this.#bytes[at] = bytes;
    this.#lines += 1;
    this.#isOpen = isOpen;
    this.#text = text;
  }

  end(): LogEnd {
    return {
      lines: this.#lines,
      hashes: this.#inOrder(this.#hashes),
      bytes: this.#inOrder(this.#bytes),
      isOpen: this.#isOpen,
      text: this.#text,
    };
  }

  #grow(): void {
    this.#capacity = Math.min(2 * this.#capacity, this.#most);
    this.#hashes = enlarged(this.#hashes, this.#capacity);
    this.#bytes = enlarged(this.#bytes, this.#capacity);
  }

  #inOrder(ring: Float64Array): Float64Array {
    if (this.#lines <= this.#capacity) return ring.slice(0, this.#lines);
    const oldest = this.#lines % this.#capacity;
    const ordered = new Float64Array(this.#capacity);
    ordered.set(ring.subarray(oldest));
    ordered.set(ring.subarray(0, oldest), this.#capacity - oldest);
    return ordered;
  }
}

function enlarged(values: Float64Array, capacity: number): Float64Array {
  const copy = new Float64Array(capacity);
  copy.set(values);
  return copy;
}
