import { type ComparedText, findOverlap } from './find-overlap';
import { type JoinedLog, joinLines, mostBefore } from './joined-log';
import type { LogEnd } from './log-end';
import { isCrLf, isSame, type LogLines } from './log-lines';
import { type Place, placeText } from './place-text';
import { judgeSeam, noOverlap, type Seam } from './seam';

/** A text, and what is known of the log with it. */
export interface Followed {
  readonly seam: Seam;
  readonly joined: JoinedLog;
}

/** A log whose first text is this one. */
export function beginLog(text: LogEnd, leaning = 0): JoinedLog {
  const latest = { first: 0, lines: text.lines, size: text.size };
  return { lines: text.kept, isOpen: text.isOpen, latest, lineEnds: text.lineEnds, leaning, without: [] };
}

/** How a text follows the log so far. @param text read with the length of the log's open line */
export function followLog(log: JoinedLog, text: LogEnd): Followed {
  if (text.lines === 0) return { seam: { ...noOverlap, kind: 'unknown', added: 0 }, joined: log };
  const later = { lines: text.kept, isOpen: text.isOpen, beginnings: text.beginnings };
  return (
    followInOrder(log, text, later) ??
    followTurned(log, text, later.lines) ?? {
      seam: { ...noOverlap, kind: 'gap', added: text.lines, ...newLineEnds(log, text) },
      joined: { ...beginLog(text, log.leaning), before: log.lines.part(log.lines.count - mostBefore, log.lines.count) },
    }
  );
}

function followInOrder(log: JoinedLog, text: LogEnd, later: ComparedText): Followed | undefined {
  const plain = grownFrom(log, later, text) ?? findOverlap(log, later)?.at;
  const at = plain ?? findOverlap(log, later, true)?.at;
  if (at === undefined) return undefined;
  const place = placeText(log, later, at);
  const bottom = newBelow(log, text, place);
  const judged = judgeSeam(log.leaning, place, bottom.added);
  const without = linesWithout(place);
  // A log that was begun anew with the same lines has another first line too. So it is a stale one only if the line is known.
  const isAnew = judged.kind === 'older' && at === 0 && place.isFirstOther && !log.without.includes('first');
  if (isAnew) return undefined;
  const { reachesBottom } = place;
  const aboveFrom = judged.isNewestFirst ? 0 : seenBefore(log, later.lines, place.above);
  const above = place.above - aboveFrom;
  return {
    seam: seamOf(log, text, { ...judged, ...bottom, above, aboveFrom, without }),
    joined: {
      lines: joinLines(log, later, at, place),
      isOpen: reachesBottom ? text.isOpen : log.isOpen,
      latest: { first: Math.max(at, 0), lines: text.lines, size: text.size },
      lineEnds: text.lineEnds ?? log.lineEnds,
      leaning: judged.leaning,
      without: log.without.concat(without.filter((line) => !log.without.includes(line))),
      before: aboveFrom === 0 ? log.before : undefined,
    },
  };
}

const firstAndLast = ['first', 'last'] as const;

/** The log was oldest first, and is newest first now; or the other way round. */
function followTurned(log: JoinedLog, text: LogEnd, lines: LogLines): Followed | undefined {
  // Of a text that is too long the newest lines are not known.
  if (lines.from > 0) return undefined;
  const later = { lines: lines.reversed(), isOpen: false };
  const at = findOverlap(log, later, true)?.at;
  if (at === undefined) return undefined;
  const place = placeText(log, later, at);
  const judged = judgeSeam(log.leaning, place, text.lines - place.newAt);
  const newFrom = text.startOf(text.lines - place.above);
  const turned = joinLines(log, later, at, place).reversed();
  return {
    seam: {
      ...seamOf(log, text, {
        kind: judged.kind,
        above: text.lines - place.newAt,
        aboveFrom: 0,
        added: place.above,
        newFrom,
        lineFrom: newFrom,
        isNewestFirst: !judged.isNewestFirst,
        without: firstAndLast,
      }),
      isTurned: true,
    },
    joined: {
      lines: turned,
      isOpen: at <= 0 && text.isOpen,
      latest: { first: turned.total - Math.max(at, 0) - text.lines, lines: text.lines, size: text.size },
      lineEnds: text.lineEnds ?? log.lineEnds,
      leaning: -log.leaning,
      without: firstAndLast,
    },
  };
}

/**
 * Whether a text has all of the text before it from its first byte: then it grew, or is the same, and that takes no proof.
 * @returns where the text before begins
 */
function grownFrom({ lines, isOpen, latest }: JoinedLog, { lines: later, beginnings }: ComparedText, { size }: LogEnd) {
  const start = latest.first + later.from - lines.from;
  // Of texts that are too long to be kept from their first byte, the same length says so.
  if (start < 0 || lines.behind > 0 || (later.from > 0 && latest.size !== size)) return undefined;
  const last = lines.count - 1 - start;
  if (last < 0 || last >= later.count || (last > 0 && !isSame(lines, start, later, 0))) return undefined;
  for (let line = 0; line < last; line += 1) if (!isSame(lines, start + line, later, line)) return undefined;
  const hasLast =
    isSame(lines, start + last, later, last) || (isOpen && beginnings?.[last] === lines.hashes[start + last]);
  return hasLast ? latest.first : undefined;
}

/**
 * How many lines at the top of a text stand before the last gap: the text reaches back across it. The log has the end of them.
 * @param above how many lines to look at
 */
function seenBefore({ before }: JoinedLog, later: LogLines, above: number): number {
  if (before === undefined || later.from > 0 || above === 0) return 0;
  const at = findOverlap({ lines: before, isOpen: false }, { lines: later.part(0, above), isOpen: false })?.at;
  return at === undefined || at < 0 ? 0 : Math.min(before.total - at, above);
}

/** What is new at the bottom of a text. A line that only got its line end is not new. */
function newBelow(
  log: ComparedText,
  text: LogEnd,
  { newAt, wentOn }: Place,
): Pick<Seam, 'added' | 'newFrom' | 'lineFrom'> {
  const { kept, lines } = text;
  const start = text.startOf(newAt);
  if (!wentOn) return { added: lines - newAt, newFrom: start, lineFrom: start };
  const openBytes = log.lines.lengths.at(-1) ?? 0;
  // A line may have been cut between its CR and its LF.
  const newFrom = start + openBytes + (isCrLf(log.lines.marks.at(-1)) ? 1 : 0);
  const isWhole = (kept.lengths[newAt - kept.from] ?? 0) <= openBytes;
  return isWhole
    ? { added: lines - newAt - 1, newFrom, lineFrom: text.startOf(newAt + 1) }
    : { added: lines - newAt, newFrom, lineFrom: start };
}

function linesWithout({ isFirstOther, isLastOther }: Place): Seam['without'] {
  return [...(isFirstOther ? ['first' as const] : []), ...(isLastOther ? ['last' as const] : [])];
}

function seamOf(
  log: JoinedLog,
  text: LogEnd,
  {
    kind,
    above,
    aboveFrom,
    added,
    newFrom,
    lineFrom,
    isNewestFirst,
    without,
  }: Omit<Seam, 'shared' | 'isTurned' | 'lineEnds'>,
): Seam {
  const shared = text.lines - above - added;
  return {
    kind,
    above,
    aboveFrom,
    shared,
    added,
    newFrom,
    lineFrom,
    isNewestFirst,
    isTurned: false,
    without,
    ...newLineEnds(log, text),
  };
}

function newLineEnds(log: JoinedLog, text: LogEnd): Pick<Seam, 'lineEnds'> {
  const lineEnds = text.lineEnds;
  return { lineEnds: log.lineEnds === undefined || lineEnds === log.lineEnds ? undefined : lineEnds };
}
