/** Longest beginning of a line that is looked at for a time, in bytes. */
const longestTime = 40;

const newline = 0x0a;

/** A time at the beginning of a line, also in brackets; UTC without a zone. */
const isoTime = /^\[?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)\s?(Z|[+-]\d\d:?\d\d)?/;

/** Cuts a text where its lines begin with a time. A line without one belongs to the line before it. */
export class LineCut {
  /** Lines that were looked at, and those of them that do not begin with a time. */
  lines = 0;
  withoutTime = 0;
  readonly #from: number;
  readonly #to: number;
  #isWanted = false;
  /** The beginning of a line of which less is known than its time takes. */
  #rest: Buffer = Buffer.alloc(0);
  #isInLine = false;

  constructor(from: Date | undefined, to: Date | undefined) {
    this.#from = from?.getTime() ?? Number.NEGATIVE_INFINITY;
    this.#to = to?.getTime() ?? Number.POSITIVE_INFINITY;
    this.#isWanted = from === undefined;
  }

  async *cut(text: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of text) yield* this.#parts(Buffer.concat([this.#rest, chunk]), false);
    yield* this.#parts(this.#rest, true);
  }

  *#parts(bytes: Buffer, isEnd: boolean): Generator<Buffer> {
    let begin = 0;
    while (begin < bytes.length) {
      const end = bytes.indexOf(newline, begin);
      if (!this.#isInLine) {
        if (end < 0 && !isEnd && bytes.length - begin < longestTime) break;
        this.#judge(bytes.toString('latin1', begin, begin + longestTime));
      }
      const next = end < 0 ? bytes.length : end + 1;
      this.#isInLine = end < 0;
      if (this.#isWanted) yield bytes.subarray(begin, next);
      begin = next;
    }
    this.#rest = bytes.subarray(begin);
  }

  #judge(beginning: string): void {
    this.lines += 1;
    const [, date, time, zone = 'Z'] = isoTime.exec(beginning) ?? [];
    const at = Date.parse(`${date}T${time?.replace(',', '.')}${zone}`);
    if (Number.isNaN(at)) this.withoutTime += 1;
    else this.#isWanted = at >= this.#from && at <= this.#to;
  }
}
