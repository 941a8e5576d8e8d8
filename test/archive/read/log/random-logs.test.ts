import fc from 'fast-check';
import { LogHistory } from '../../../../archive/read/log/log-history';
import type { SeamKind } from '../../../../archive/read/log/seam';
import { rounds } from '../../../support/rounds';

/** What a service does between two fetches of one log, and how it shows the log then. */
const fetch = fc.record({
  logged: fc.oneof({ weight: 3, arbitrary: fc.nat(20) }, { weight: 1, arbitrary: fc.nat(80) }),
  shown: fc.integer({ min: 12, max: 60 }),
  turns: often(1, 12),
  changesLineEnds: often(1, 8),
  /** It answers what it answered so many fetches ago; 0: what is true. */
  stale: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) }),
});

const service = fc.record({
  header: often(1, 3),
  footer: often(1, 3),
  isNewestFirst: fc.boolean(),
  isCrLf: fc.boolean(),
  /** The last line has no line end. */
  isOpen: fc.boolean(),
  /** It shows all of the log, and not a window. */
  isGrowing: often(1, 4),
  fetches: fc.array(fetch, { minLength: 2, maxLength: 12 }),
});

function often(times: number, of: number) {
  return fc.integer({ min: 1, max: of }).map((number) => number <= times);
}

/** One fetch: lines of the log from one number to before another, as bytes. */
interface Shown {
  readonly from: number;
  readonly to: number;
  readonly isNewestFirst: boolean;
  readonly isCrLf: boolean;
  readonly text: Buffer;
}

/** Lines of many lengths, none of which is another's end. */
const lineOf = (number: number) => `${'x'.repeat((number * 7) % 23)} line ${number}`;

function show(
  { header, footer, isOpen }: { header: boolean; footer: boolean; isOpen: boolean },
  at: number,
  shown: Omit<Shown, 'text'>,
): Shown {
  const { from, to, isNewestFirst, isCrLf } = shown;
  const numbers = Array.from({ length: to - from }, (_, line) => lineOf(from + line));
  const end = isCrLf ? '\r\n' : '\n';
  const ordered = isNewestFirst ? numbers.reverse() : numbers;
  const framed = [...(header ? [`top ${at}`] : []), ...ordered, ...(footer ? [`bottom ${at}`] : [])];
  return { ...shown, text: Buffer.from(framed.join(end) + (isOpen ? '' : end)) };
}

/** How often what was tried. */
interface Seen {
  readonly kinds: Record<SeamKind, number>;
  turned: number;
  framed: number;
  lineEnds: number;
}

type Service = typeof service extends fc.Arbitrary<infer One> ? One : never;

it('logs of which a service shows ever another part lose no line, and no line stands twice without a gap', () => {
  const tried = rounds(20_000);
  const kinds = { continues: 0, unchanged: 0, gap: 0, older: 0, unknown: 0 };
  const seen: Seen = { kinds, turned: 0, framed: 0, lineEnds: 0 };
  fc.assert(
    fc.property(service, (one) => {
      expect(problemsOf(one, seen)).toEqual([]);
    }),
    tried,
  );
  const { continues, unchanged, gap, older } = kinds;
  const { turned, framed, lineEnds } = seen;
  expect(Math.min(continues, unchanged, gap, older, turned, framed, lineEnds)).toBeGreaterThan(tried.numRuns / 20);
});

/** The texts that a service answers, one after the other. */
function fetchesOf(one: Service): Shown[] {
  const fetched: Shown[] = [];
  let [end, isNewestFirst, isCrLf] = [40, one.isNewestFirst, one.isCrLf];
  for (const [at, { logged, shown, turns, changesLineEnds, stale }] of one.fetches.entries()) {
    if (at > 0) end += logged;
    if (turns) isNewestFirst = !isNewestFirst;
    if (changesLineEnds) isCrLf = !isCrLf;
    const from = one.isGrowing ? 0 : Math.max(0, end - shown);
    const answer = stale > 0 ? fetched.at(-stale) : undefined;
    fetched.push(answer ?? show(one, at, { from, to: end, isNewestFirst, isCrLf }));
  }
  return fetched;
}

/** Joins the texts, and counts how often each line stands in what was joined. @returns what is wrong */
function problemsOf(one: Service, seen: Seen): string[] {
  const problems: string[] = [];
  const history = new LogHistory();
  const printed = new Map<string, number>();
  const fetched = fetchesOf(one);
  const all = new Set<string>();
  let [gaps, turns] = [0, 0];
  // The lines since the last gap.
  let [from, to, isNewestFirst] = [0, 0, one.isNewestFirst];
  for (const [at, answer] of fetched.entries()) {
    const reader = history.reader();
    reader.write(answer.text);
    const { seam, base } = history.add(new Date(at), reader.result());
    const lines = linesOf(answer.text);
    const isNew = [
      ...lines.slice(seam.aboveFrom, seam.aboveFrom + seam.above),
      ...linesOf(answer.text.subarray(seam.lineFrom)),
    ];
    for (const line of lines) all.add(line);
    for (const line of isNew) printed.set(line, (printed.get(line) ?? 0) + 1);
    const wrong = (what: string) => problems.push(`fetch ${at}: ${what}`);
    if (seam.above + seam.shared + seam.added !== lines.length) wrong('its counts are not its lines');
    if (base !== undefined) {
      const both = Math.min(to, answer.to) - Math.max(from, answer.from);
      seen.kinds[seam.kind] += 1;
      // Twice three lines prove it, in either order and without the first and the last line. With another first line, all of a
      // text may be there again because the log was begun anew.
      const mayBeAnew = one.header && answer.from >= from && answer.to <= to;
      if (both >= 9 && !mayBeAnew && seam.kind === 'gap') wrong('a gap, though lines are shared');
      // All of a text from its first line takes no proof.
      if (both < 3 && from !== answer.from && seam.kind !== 'gap') wrong(`${seam.kind}, though too little is shared`);
      if (answer.isNewestFirst !== isNewestFirst) turns += 1;
      // Where a log has turned, all of an older answer may stand at its end. Nothing is new in either.
      const isOlder = seam.kind === 'older' || (seam.kind === 'unchanged' && turns > 0);
      if (both >= 9 && answer.from > from && answer.to < to - 1 && !isOlder) wrong(`${seam.kind} but older`);
      if (seam.isTurned) seen.turned += 1;
      if (seam.without.length > 0) seen.framed += 1;
      if (seam.lineEnds !== undefined) seen.lineEnds += 1;
    }
    if (base === undefined || seam.kind === 'gap') {
      if (base !== undefined) gaps += 1;
      [from, to] = [answer.from, answer.to];
    } else [from, to] = [Math.min(from, answer.from), Math.max(to, answer.to)];
    isNewestFirst = answer.isNewestFirst;
  }
  for (const line of all) if (!printed.has(line)) problems.push(`lost: ${line}`);
  // Where a log turns, a line of the moment may come to stand in the place of a line.
  const isExact = gaps === 0 && !(turns > 0 && (one.header || one.footer));
  // A stale answer has a line of the moment that was already there once.
  for (const [line, times] of printed)
    if (times > 1 && isExact && line.includes('line')) problems.push(`${times} times: ${line}`);
  return problems;
}

/** Without their line ends. */
function linesOf(text: Buffer): string[] {
  const lines = text.toString().split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
