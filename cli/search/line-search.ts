/** A line that was found, or one around it. */
export interface FoundLine {
  /** Counts from 1. */
  readonly number: number;
  /** Of a line that is too long its beginning, and `…`. */
  readonly text: string;
  /** False for a line of context. */
  readonly isMatch: boolean;
  /** With context, whether lines are left out between the line that was found before and this one. */
  readonly isApart: boolean;
}

interface LineSearchOptions {
  readonly matches: (line: string) => boolean;
  /** Lines before and after each match that are found as well. */
  readonly context: number;
  readonly onFound: (line: FoundLine) => void;
  /** The text is made of lines from the place `above`, and of what is behind so many lines. */
  readonly parts?:
    | { readonly above: { readonly from: number; readonly to: number }; readonly lines: number }
    | undefined;
}

/** Most bytes of a line that are searched: memory does not grow with what is behind them. */
export const longestLine = 16 * 1024 * 1024;

/** Most characters of a line of context that are kept. */
const longestContext = 64 * 1024;

const newline = 0x0a;

/** Finds the lines of a text that match. The text comes in chunks of UTF-8; bytes that are not UTF-8 become U+FFFD. */
export class LineSearch {
  /** Lines that match. */
  matches = 0;
  /** Lines of which only the beginning was searched. */
  cutLines = 0;
  readonly #options: LineSearchOptions;
  /** The last lines, oldest first, while they may still become context. */
  readonly #before: { number: number; text: string }[] = [];
  /** Beginning of a line whose end is still to come. */
  #rest: Buffer[] = [];
  #restLength = 0;
  #isCut = false;
  #number: number;
  #lastFound = 0;
  #contextLeft = 0;

  constructor(options: LineSearchOptions) {
    this.#options = options;
    this.#number = options.parts?.above.from ?? 0;
  }

  write(chunk: Buffer): void {
    const end = chunk.lastIndexOf(newline);
    if (end < 0) {
      this.#keep(chunk);
      return;
    }
    const first = this.#restLength === 0 ? -1 : chunk.indexOf(newline);
    if (first >= 0) {
      this.#keep(chunk.subarray(0, first));
      this.#endLine();
    }
    if (first < end) for (const line of chunk.toString('utf8', first + 1, end).split('\n')) this.#search(line);
    this.#keep(chunk.subarray(end + 1));
  }

  /** Call this after the last chunk. The last line may have no newline. */
  end(): void {
    if (this.#restLength > 0) this.#endLine();
  }

  #keep(bytes: Buffer): void {
    const kept = bytes.subarray(0, longestLine - this.#restLength);
    if (kept.length < bytes.length) this.#isCut = true;
    if (kept.length === 0) return;
    this.#rest.push(kept);
    this.#restLength += kept.length;
  }

  #endLine(): void {
    const text = Buffer.concat(this.#rest).toString('utf8');
    const isCut = this.#isCut;
    this.#rest = [];
    this.#restLength = 0;
    this.#isCut = false;
    if (isCut) this.cutLines += 1;
    this.#search(isCut ? `${text}…` : text);
  }

  #search(text: string): void {
    const { parts } = this.#options;
    if (this.#number === parts?.above.to && this.#number < parts.lines) {
      this.#number = parts.lines;
      this.#before.length = 0;
      this.#contextLeft = 0;
    }
    this.#number += 1;
    const { matches } = this.#options;
    // The end of a line is CR LF too: `x$` means both.
    const isMatch = matches(text) || (text.endsWith('\r') && matches(text.slice(0, -1)));
    if (isMatch) this.#matched(text);
    else this.#notMatched(text);
  }

  #matched(text: string): void {
    this.matches += 1;
    for (const line of this.#before.splice(0)) this.#found({ ...line, isMatch: false });
    this.#found({ number: this.#number, text, isMatch: true });
    this.#contextLeft = this.#options.context;
  }

  #notMatched(text: string): void {
    const { context } = this.#options;
    if (context === 0) return;
    const kept = text.length > longestContext ? `${text.slice(0, longestContext)}…` : text;
    const line = { number: this.#number, text: kept };
    if (this.#contextLeft > 0) {
      this.#contextLeft -= 1;
      this.#found({ ...line, isMatch: false });
      return;
    }
    this.#before.push(line);
    if (this.#before.length > context) this.#before.shift();
  }

  #found(line: Omit<FoundLine, 'isApart'>): void {
    const { context, onFound } = this.#options;
    onFound({ ...line, isApart: context > 0 && this.#lastFound > 0 && line.number > this.#lastFound + 1 });
    this.#lastFound = line.number;
  }
}
