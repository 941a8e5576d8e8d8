import { isWithin, type Period } from '../../archive/read';

/** Longest beginning of a line that is looked at for a time, in bytes. */
const longestTime = 40;

const newline = 0x0a;

/** A time at the beginning of a line, also in brackets; UTC without a zone. */
const isoTime = /^\[?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)\s?(Z|[+-]\d\d:?\d\d)?/;

/** Lines that were looked at. */
export class CutCounts {
  lines = 0;
  /** Those that are in the period. */
  wanted = 0;
  /** Those that do not begin with a time. */
  withoutTime = 0;
  /** The earliest and the latest time; undefined: no line begins with one. */
  first: Date | undefined;
  last: Date | undefined;

  timed(at: Date): void {
    if (this.first === undefined || at < this.first) this.first = at;
    if (this.last === undefined || at > this.last) this.last = at;
  }
}

/** Cuts a text where its lines begin with a time. A line without one belongs to the line before it. */
export async function* cutLines(
  text: AsyncIterable<Buffer>,
  period: Period,
  counts: CutCounts,
): AsyncGenerator<Buffer> {
  let isWanted = period.from === undefined;
  let isInLine = false;
  /** The beginning of a line of which less is known than its time takes. */
  let rest: Buffer = Buffer.alloc(0);
  const judge = (beginning: string) => {
    counts.lines += 1;
    const [, date, time, zone = 'Z'] = isoTime.exec(beginning) ?? [];
    const at = new Date(`${date}T${time?.replace(',', '.')}${zone}`);
    if (Number.isNaN(at.getTime())) counts.withoutTime += 1;
    else {
      isWanted = isWithin(at, period);
      counts.timed(at);
    }
    if (isWanted) counts.wanted += 1;
  };
  const parts = function* (bytes: Buffer, isEnd: boolean): Generator<Buffer> {
    let begin = 0;
    while (begin < bytes.length) {
      const end = bytes.indexOf(newline, begin);
      if (!isInLine) {
        if (end < 0 && !isEnd && bytes.length - begin < longestTime) break;
        judge(bytes.toString('latin1', begin, begin + longestTime));
      }
      const next = end < 0 ? bytes.length : end + 1;
      isInLine = end < 0;
      if (isWanted) yield bytes.subarray(begin, next);
      begin = next;
    }
    rest = bytes.subarray(begin);
  };
  for await (const chunk of text) yield* parts(Buffer.concat([rest, chunk]), false);
  yield* parts(rest, true);
}
