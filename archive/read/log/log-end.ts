import { isCrLf, LogLines, mostCompared } from './log-lines';

export type LineEnds = 'LF' | 'CRLF' | 'LF and CRLF';

/** The last lines of a log's text, while it is read. */
export class LogEnd {
  #hashes: number[] = [];
  #lengths: number[] = [];
  #marks: number[] = [];
  #beginnings: (number | undefined)[] = [];
  /** Lines of the whole text; a last one without LF counts. */
  lines = 0;
  /** Lines of the whole text that end with CRLF. */
  crLfs = 0;
  /** Bytes of the whole text. */
  size = 0;
  /** The last line has no LF: it may go on. */
  isOpen = false;

  /** What is kept of it. */
  get kept(): LogLines {
    const [hashes, lengths, marks] = [this.#hashes, this.#lengths, this.#marks];
    return new LogLines({ hashes, lengths, marks }, { from: this.lines - hashes.length });
  }

  /** What its lines end with; undefined: it has not ended one. */
  get lineEnds(): LineEnds | undefined {
    const ended = this.lines - (this.isOpen ? 1 : 0);
    if (ended === 0) return undefined;
    return this.crLfs === 0 ? 'LF' : this.crLfs >= ended ? 'CRLF' : 'LF and CRLF';
  }

  /** Where a kept line begins, in bytes of the text. The one behind the last begins at its end. */
  startOf(line: number): number {
    const { kept, size, lines, isOpen } = this;
    let bytes = 0;
    for (let at = line - kept.from; at < kept.count; at += 1) bytes += kept.width(at);
    return line === lines ? size : size - bytes + (isOpen ? 1 : 0);
  }

  /** Of each kept line, the hash of its first bytes as the reader was asked for; empty where it was asked for none. */
  get beginnings(): readonly (number | undefined)[] {
    return this.#beginnings;
  }

  /**
   * Adds the next line of the text.
   * @param hash of its bytes without its line end: 53 bits, so that a pair of equal hashes in a log of a million lines is
   *   chance once in ten thousand logs
   * @param length its bytes without its line end
   * @param mark see {@link LogLines.marks}
   * @param isOpen it is the last one and has no LF: it may go on in a later text
   * @param beginning hash of its first bytes, as many as are compared; undefined where it is shorter
   */
  line(hash: number, length: number, mark: number, isOpen: boolean, beginning?: number): void {
    this.#hashes.push(hash);
    this.#lengths.push(length);
    this.#marks.push(mark);
    if (beginning !== undefined) this.#beginnings[this.#hashes.length - 1] = beginning;
    this.lines += 1;
    if (isCrLf(mark)) this.crLfs += 1;
    this.size += length + (isCrLf(mark) ? 1 : 0) + (isOpen ? 0 : 1);
    this.isOpen = isOpen;
    if (this.#hashes.length === 2 * mostCompared) this.keepCompared();
  }

  /** Forgets all but the last lines, those that are compared. */
  keepCompared(): void {
    const gone = this.#hashes.length - mostCompared;
    if (gone <= 0) return;
    this.#hashes = this.#hashes.slice(gone);
    this.#lengths = this.#lengths.slice(gone);
    this.#marks = this.#marks.slice(gone);
    this.#beginnings = this.#beginnings.slice(gone);
  }
}
