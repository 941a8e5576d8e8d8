import { LogHistory, type LogLink } from '../../../lambda/log/log-history';
import { pick, type Random, seededRandom } from '../../../local/demo-service/seeded-random';

interface Range {
  readonly from: number;
  readonly to: number;
}

/** What a service answered to a run: the part of the whole log from one byte to another. */
interface Snapshot extends Range {
  readonly run: Date;
}

interface RandomLog {
  /** Whether lines are repeated, so that chance may decide. */
  readonly repeats: boolean;
  readonly whole: Buffer;
  readonly snapshots: readonly Snapshot[];
}

const kinds = ['events', 'events', 'events', 'heartbeats', 'periodic', 'banners', 'mixed'] as const;
const windows = ['lines', 'bytes', 'age', 'growing', 'rotated'] as const;

/** A log that is written while a service shows ever another part of it. */
function randomLog(seed: number): RandomLog {
  const random = seededRandom(`log/${seed}`);
  const below = (limit: number) => Math.floor(random() * limit);
  const kind = pick(random, kinds);
  const lines = randomLines(random, kind);
  const starts = [0];
  for (const { length } of lines) starts.push((starts.at(-1) ?? 0) + length);
  const whole = Buffer.concat(lines);
  const window = pick(random, windows);
  const size = 2 + below(40);
  const step = below(window === 'growing' ? 20 : Math.ceil(size * (0.3 + random())) + 2);
  const snapshots: Snapshot[] = [];
  let line = 1 + below(size);
  let rotatedAt = 0;
  for (let at = 0; line <= lines.length && at < 20; at += 1, line += below(step + 1)) {
    const run = new Date(Date.UTC(2026, 10, 1, at));
    // The last line may be half written, in the middle of a character too.
    const end = starts[line] ?? 0;
    const to = below(5) === 0 ? Math.max(end - below(lines[line - 1]?.length ?? 0), 1) : end;
    if (window === 'rotated' && below(4) === 0) rotatedAt = starts[Math.max(line - below(5), 0)] ?? 0;
    const from = beginning();
    const previous = snapshots[below(snapshots.length || 1)];
    // Some runs archive nothing.
    if (below(10) === 0) continue;
    const isStale = below(12) === 0 && previous !== undefined;
    snapshots.push(isStale ? { ...previous, run } : { run, from: Math.min(from, to), to });

    function beginning(): number {
      if (window === 'growing') return 0;
      if (window === 'rotated') return rotatedAt;
      if (window === 'bytes') return Math.max(to - size * 25, 0);
      const kept = window === 'age' ? 1 + below(2 * size) : size;
      return starts[Math.max(line - kept, 0)] ?? 0;
    }
  }
  return { repeats: kind !== 'events', whole, snapshots };
}

function randomLines(random: Random, kind: (typeof kinds)[number]): Buffer[] {
  const below = (limit: number) => Math.floor(random() * limit);
  const end = pick(random, ['\n', '\n', '\r\n']);
  const period = 2 + below(6);
  const line = (at: number): string => {
    const event = `${at} ${pick(random, ['pod started', 'größe überschritten 日本', 'x'.repeat(below(300)), ''])}`;
    if (kind === 'heartbeats') return below(6) === 0 ? event : 'heartbeat';
    if (kind === 'periodic') return `check ${at % period}`;
    if (kind === 'banners') return at % 30 < 4 ? `*** banner ${at % 30} ***` : event;
    if (kind === 'mixed') return pick(random, ['ok', 'ok', 'retry', event]);
    return event;
  };
  return Array.from({ length: 30 + below(200) }, (_, at) => {
    const bytes = Buffer.from(`${line(at)}${end}`);
    if (kind === 'events' && below(20) === 0 && bytes.length > 4) bytes[1] = 0xff;
    return bytes;
  });
}

/** The snapshots joined as `LogHistory` judges them. */
function joinLogs({ whole, snapshots }: RandomLog, chunk: number): { text: Buffer; links: LogLink[] } {
  const history = new LogHistory();
  const pieces: Buffer[] = [];
  const links: LogLink[] = [];
  for (const { run, from, to } of snapshots) {
    const text = whole.subarray(from, to);
    const reader = history.reader();
    for (let at = 0; at < text.length; at += chunk) reader.write(text.subarray(at, at + chunk));
    const link = history.add(run, reader.result());
    links.push(link);
    const { kind, newFrom } = link.seam;
    // Also an unchanged one: its last line may have got its LF.
    if (kind !== 'older' && kind !== 'unknown') pieces.push(text.subarray(newFrom));
  }
  return { text: Buffer.concat(pieces), links };
}

type Kind = 'first' | 'unchanged' | 'continues' | 'older' | 'gap' | 'unknown';

/**
 * What became of each snapshot, told from where it lies in the whole log, and the joined text: nothing of the joining is
 * used. An overlap counts where it is a proof: three lines unlike the line before them, or 200 bytes of such lines,
 * without a first line that may be cut; or all of the earlier text.
 */
function truthOf({ whole, snapshots }: RandomLog): { kinds: Kind[]; text: Buffer } {
  const kinds: Kind[] = [];
  let base: Range | undefined;
  const ranges: { from: number; to: number }[] = [];
  for (const range of snapshots) {
    const kind = kindOf(range);
    kinds.push(kind);
    if (kind === 'unknown' || kind === 'older') continue;
    if (kind === 'first' || kind === 'gap') ranges.push({ from: range.from, to: range.to });
    else {
      const last = ranges.at(-1);
      if (last !== undefined) last.to = Math.max(last.to, range.to);
    }
    base = range;
  }
  return { kinds, text: Buffer.concat(ranges.map(({ from, to }) => whole.subarray(from, to))) };

  function kindOf(range: Range): Kind {
    if (range.from === range.to) return 'unknown';
    if (base === undefined) return 'first';
    if (isProof(base, range)) return hasNew(base.to, range.to) ? 'continues' : 'unchanged';
    if (range.to <= base.to && isProof(withoutOpenLine(range), base, { start: false })) return 'older';
    return 'gap';
  }

  function hasNew(from: number, to: number): boolean {
    return whole.subarray(from, to).toString('latin1').replace('\n', '') !== '' || isLineStart(from, to);
  }

  function isLineStart(from: number, to: number): boolean {
    return from < to && (from === 0 || whole[from - 1] === 0x0a);
  }

  function withoutOpenLine(range: Range): Range {
    const to = whole.subarray(range.from, range.to).lastIndexOf(0x0a) + 1;
    return { from: range.from, to: range.from + to };
  }

  /** Whether a later range has a proof of an earlier one's end, or all of it from its first byte if that is enough. */
  function isProof(earlier: Range, later: Range, { start = true } = {}): boolean {
    if (earlier.from === earlier.to || later.to < earlier.to || later.from >= earlier.to) return false;
    const isSameStart = start && later.from === earlier.from;
    if (isSameStart) return true;
    const from = Math.max(comparedFrom(earlier), comparedFrom(later));
    return from < earlier.to && isProofText(whole.subarray(from, earlier.to));
  }

  /** Behind the first line, if another follows. */
  function comparedFrom({ from, to }: Range): number {
    const end = whole.subarray(from, to).indexOf(0x0a) + 1;
    return end === 0 || from + end === to ? from : from + end;
  }
}

function isProofText(text: Buffer): boolean {
  const lines = text.toString('latin1').replace(/\n$/, '').split('\n');
  const unlike = lines.filter((line, at) => line !== lines[at - 1]);
  return unlike.length >= 3 || unlike.join('').length >= 200;
}

/** What joining random logs came to. */
interface JoinedLogs {
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
      return told !== truth.kinds[at];
    });
    const isShort = different.some(({ seam }) => seam.isShort);
    if (log.repeats) found.byChance += different.length;
    else if (isShort) found.short += different.length;
    else if (different.length > 0 || !joined.text.equals(truth.text)) found.wrong.push(seed);
  }
  return found;
}
