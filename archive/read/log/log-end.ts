/** Lines of a log that are compared, its last ones: 16 bytes each. */
export const mostCompared = 100_000;

/** The last lines of a log's text, as far as another text is compared with it. */
export class LogEnd {
  /** Of each kept line, without its LF. */
  hashes: number[] = [];
  bytes: number[] = [];
  /** Of each kept line, the hash of its first bytes as the reader was asked for; empty where it was asked for none. */
  beginnings: (number | undefined)[] = [];
  /** Lines of the whole text; a last one without LF counts. */
  lines = 0;
  /** Bytes of the whole text. */
  size = 0;
  /** The last line has no LF: it may go on. */
  isOpen = false;

  /** The number of the first line that is kept, from 0. */
  get from(): number {
    return this.lines - this.hashes.length;
  }

  /** The length of the last line if it may go on: a reader of a later text is asked for the beginnings of its lines. */
  get openBytes(): number {
    return this.isOpen ? (this.bytes.at(-1) ?? 0) : 0;
  }

  /**
   * Adds the next line of the text.
   * @param hash of its bytes without its LF: 53 bits, so that a pair of equal hashes in a log of a million lines is chance
   *   once in ten thousand logs
   * @param bytes its length without its LF
   * @param isOpen it is the last one and has no LF: it may go on in a later text
   * @param beginning hash of its first bytes, as many as are compared; undefined where it is shorter
   */
  line(hash: number, bytes: number, isOpen: boolean, beginning?: number): void {
    this.hashes.push(hash);
    this.bytes.push(bytes);
    if (beginning !== undefined) this.beginnings[this.hashes.length - 1] = beginning;
    this.lines += 1;
    this.size += bytes + (isOpen ? 0 : 1);
    this.isOpen = isOpen;
    if (this.hashes.length === 2 * mostCompared) this.keep(mostCompared);
  }

  /** Forgets all but so many last lines. */
  keep(most: number): void {
    const gone = this.hashes.length - most;
    if (gone <= 0) return;
    this.hashes = this.hashes.slice(gone);
    this.bytes = this.bytes.slice(gone);
    this.beginnings = this.beginnings.slice(gone);
  }

  /** The same lines without an open one. */
  wholeLines(): LogEnd {
    if (!this.isOpen) return this;
    const whole = new LogEnd();
    whole.hashes = this.hashes.slice(0, -1);
    whole.bytes = this.bytes.slice(0, -1);
    whole.lines = this.lines - 1;
    whole.size = this.size - this.openBytes;
    return whole;
  }
}
