import { joinLogs, type RandomLog, randomLog, truthOf } from './random-logs';

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
    else if (different.length > 0 || !isRight(log, joined.text, truth.text)) found.wrong.push(seed);
  }
  return found;
}

/** What is joined without a break is right too: a later log may close more gaps than the truth knows. */
function isRight({ whole }: RandomLog, joined: Buffer, truth: Buffer): boolean {
  return joined.equals(truth) || (joined.length >= truth.length / 2 && whole.includes(joined));
}
