/** A line that was found, or one around it. */
export interface FoundLine {
  /** Counts from 1. */
  readonly number: number;
  readonly text: string;
  /** False for a line of context. */
  readonly isMatch: boolean;
  /** Whether the text is only a part of the line. */
  readonly isCut: boolean;
  /** With context, whether lines are left out between the line that was found before and this one. */
  readonly isApart: boolean;
}

interface LineSearchOptions {
  readonly matches: (line: string) => boolean;
  /** Lines before and after each match that are found as well. */
  readonly context: number;
  readonly onFound: (line: FoundLine) => void;
  /** Lines before the text, which are counted. */
  readonly linesBefore?: number;
}

/** A longer line is searched in parts of this length, in bytes, so that memory does not grow with it. */
export const longestPart = 1024 * 1024;

/** What a part repeats of the part before it, in bytes: a match of this length is found wherever the line is divided. */
export const overlap = 64 * 1024;

/** Most characters of a line of context that are kept. */
const longestContext = 64 * 1024;

const newline = 0x0a;

/** Finds the lines of a text that match. The text comes in chunks of UTF-8; bytes that are not UTF-8 become U+FFFD. */
export class LineSearch {
  /** Lines that match. */
  matches = 0;
  /** Lines that were searched in parts. */
  dividedLines = 0;
  readonly #options: LineSearchOptions;
  /** The last lines, oldest first, while they may still become context. */
  readonly #before: { number: number; text: string; isCut: boolean }[] = [];
  /** Beginning of a line whose end is still to come. */
  #rest: Buffer[] = [];
  #restLength = 0;
  #isDivided = false;
  /** Whether the line at hand already matched in an earlier part. */
  #hasMatched = false;
  #number: number;
  #lastFound = 0;
  #contextLeft = 0;

  constructor(options: LineSearchOptions) {
    this.#options = options;
    this.#number = options.linesBefore ?? 0;
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
    if (first < end) for (const line of chunk.toString('utf8', first + 1, end).split('\n')) this.#search(line, true);
    this.#keep(chunk.subarray(end + 1));
  }

  /** Call this after the last chunk. The last line may have no newline. */
  end(): void {
    if (this.#restLength > 0) this.#endLine();
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#rest.push(bytes);
    this.#restLength += bytes.length;
    if (this.#restLength > longestPart) this.#divide();
  }

  /** Searches what is there of a long line, and keeps only the overlap of it. */
  #divide(): void {
    const part = Buffer.concat(this.#rest);
    const end = characterStart(part, part.length - 1);
    this.#search(part.toString('utf8', 0, end), false);
    const kept = Buffer.from(part.subarray(characterStart(part, end - overlap)));
    this.#rest = [kept];
    this.#restLength = kept.length;
  }

  #endLine(): void {
    const text = Buffer.concat(this.#rest).toString('utf8');
    this.#rest = [];
    this.#restLength = 0;
    this.#search(text, true);
  }

  /** Searches a line, or a part of a long one. @param isEnd whether the line ends with it */
  #search(text: string, isEnd: boolean): void {
    const isCut = this.#isDivided || !isEnd;
    if (!this.#isDivided) {
      this.#number += 1;
      if (isCut) this.dividedLines += 1;
    }
    if (!this.#hasMatched && this.#options.matches(text)) {
      this.#hasMatched = true;
      this.#matched(text, isCut);
    } else if (isEnd && !this.#hasMatched) {
      this.#notMatched(text, isCut);
    }
    this.#isDivided = !isEnd;
    if (isEnd) this.#hasMatched = false;
  }

  #matched(text: string, isCut: boolean): void {
    this.matches += 1;
    for (const line of this.#before.splice(0)) this.#found({ ...line, isMatch: false });
    this.#found({ number: this.#number, text, isMatch: true, isCut });
    this.#contextLeft = this.#options.context;
  }

  #notMatched(text: string, isPart: boolean): void {
    const { context } = this.#options;
    if (context === 0) return;
    const isCut = isPart || text.length > longestContext;
    const line = { number: this.#number, text: text.slice(0, longestContext), isCut };
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

/** The index of the first byte of the character that the byte at an index belongs to. */
function characterStart(bytes: Buffer, index: number): number {
  let start = index;
  // A character has at most three bytes after its first; four in a row are not UTF-8.
  while (start > index - 3 && start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
