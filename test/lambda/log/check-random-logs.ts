import { joinLogs, randomLog, truthOf } from './random-logs';

/** What joining random logs came to. */
export interface JoinedLogs {
  readonly logs: number;
  readonly seams: number;
  /** Seeds of logs without repeated lines that were not joined to the original, or whose seams were told wrongly. */
  readonly wrong: number[];
  /** Of logs without repeated lines: seams that an overlap without proof decided, marked `short`. */
  readonly short: number;
  /** Of logs with repeated lines: seams that chance decided otherwise than where the text came from. */
  readonly byChance: number;
}

export function checkRandomLogs(first: number, count: number): JoinedLogs {
  const found = { logs: count, seams: 0, wrong: [] as number[], short: 0, byChance: 0 };
  for (let seed = first; seed < first + count; seed += 1) {
    const log = randomLog(seed);
    const joined = joinLogs(log, 1 + (seed % 50));
    const truth = truthOf(log);
    found.seams += joined.links.length;
    const different = joined.links.filter(({ base, seam, lines }, at) => {
      const told = base === undefined && lines > 0 ? 'first' : seam.kind;
      return told !== truth.truths[at]?.kind;
    });
    const isShort = different.some(({ seam }) => seam.isShort);
    if (log.repeats) found.byChance += different.length;
    else if (isShort) found.short += different.length;
    else if (different.length > 0 || !joined.text.equals(truth.text)) found.wrong.push(seed);
  }
  return found;
}
