import { type ComparedText, findOverlap, isSame } from './find-overlap';
import { type JoinedLog, joinLines, type LineEnds, mostBefore, mostLeaning } from './joined-log';
import type { LogEnd } from './log-end';
import type { LogLines } from './log-lines';
import { type Place, placeText } from './place-text';

/**
 * How an archived log follows those before it.
 * - `unchanged`: nothing is new at its end. The end of a log that is newest first is its top.
 * - `continues`: it goes on from where they end.
 * - `older`: it ends before they do: a stale answer.
 * - `gap`: nothing of their end is in it. Lines may be lost, or the log was started again.
 * - `unknown`: there is no text to compare.
 */
export type SeamKind = 'unchanged' | 'continues' | 'older' | 'gap' | 'unknown';

/** All lines of a log that no log before it has are above or below those that it shares. */
export interface Seam {
  readonly kind: SeamKind;
  /** Lines that are new above those that are shared, and the first of them, from 0: nearly always the first of the text. */
  readonly above: number;
  readonly aboveFrom: number;
  /** Lines that a log before has. */
  readonly shared: number;
  /** Lines below them that are new. All of the text at a gap. */
  readonly added: number;
  /** Where what is new below begins, in bytes of the text. Where the last line before went on, that is inside a line. */
  readonly newFrom: number;
  /** Where the first line that is new below, or went on, begins. */
  readonly lineFrom: number;
  /** New lines stand above older ones. */
  readonly isNewestFirst: boolean;
  /** Its lines are in the opposite order to those of the log before. */
  readonly isTurned: boolean;
  /** The lines without which it was compared: they are others in each log. */
  readonly without: JoinedLog['without'];
  /** What its lines end with now, if those of the log before ended with something else. */
  readonly lineEnds: LineEnds | undefined;
}

/** What a seam says where both logs have nothing in common. */
export const noOverlap = {
  above: 0,
  aboveFrom: 0,
  shared: 0,
  newFrom: 0,
  lineFrom: 0,
  isNewestFirst: false,
  isTurned: false,
  without: [],
  lineEnds: undefined,
} as const;

/** A text, and what is known of the log with it. */
export interface Followed {
  readonly seam: Seam;
  readonly joined: JoinedLog;
}

/** A log whose first text is this one. */
export function beginLog(text: LogEnd, leaning = 0): JoinedLog {
  const latest = { first: 0, lines: text.lines, size: text.size };
  return { lines: text.kept, isOpen: text.isOpen, latest, lineEnds: lineEndsOf(text), leaning, without: [] };
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
  const judged = judge(log.leaning, place, bottom.added);
  const without = linesWithout(place);
  // A log that was begun anew with the same lines has another first line too. So it is a stale one only if the line is known.
  const isAnew = judged.kind === 'older' && at === 0 && place.isFirstOther && !log.without.includes('first');
  if (isAnew) return undefined;
  const { reachesBottom } = place;
  const latest =
    judged.kind === 'older'
      ? { ...log.latest, first: log.latest.first + Math.max(-at, 0) }
      : { first: Math.max(at, 0), lines: text.lines, size: text.size };
  const aboveFrom = judged.isNewestFirst ? 0 : seenBefore(log, later.lines, place.above);
  const above = place.above - aboveFrom;
  return {
    seam: seamOf(log, text, { ...judged, ...bottom, above, aboveFrom, without }),
    joined: {
      lines: joinLines(log, later, at, place),
      isOpen: reachesBottom ? text.isOpen : log.isOpen,
      latest,
      lineEnds: lineEndsOf(text) ?? log.lineEnds,
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
  const judged = judge(log.leaning, place, text.lines - place.newAt);
  const newFrom = startOf(text, text.lines - place.above);
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
      lineEnds: lineEndsOf(text) ?? log.lineEnds,
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

/**
 * Judges a place by the side on which lines are new: that is the end of the log.
 * @param before which side it was so far, see {@link JoinedLog.leaning}
 * @param added lines that are new at the bottom
 */
function judge(
  before: number,
  place: Place,
  added: number,
): Pick<Seam, 'kind' | 'isNewestFirst'> & { leaning: number } {
  // A line of the moment is new each time, and says nothing.
  const above = place.above - (place.isFirstOther && place.above > 0 ? 1 : 0);
  const below = added - (place.isLastOther && added > 0 ? 1 : 0);
  const side = below > 0 && above === 0 ? 1 : above > 0 && below === 0 ? -1 : 0;
  const leaning = Math.max(-mostLeaning, Math.min(mostLeaning, before + side));
  const isNewestFirst = leaning < 0 || (leaning === 0 && before < 0);
  const [reachesEnd, atEnd] = isNewestFirst ? [place.reachesTop, above] : [place.reachesBottom, below];
  return { kind: !reachesEnd ? 'older' : atEnd > 0 ? 'continues' : 'unchanged', isNewestFirst, leaning };
}

/** What is new at the bottom of a text. A line that only got its line end is not new. */
function newBelow(
  log: ComparedText,
  text: LogEnd,
  { newAt, wentOn }: Place,
): Pick<Seam, 'added' | 'newFrom' | 'lineFrom'> {
  const { kept, lines } = text;
  const start = startOf(text, newAt);
  if (!wentOn) return { added: lines - newAt, newFrom: start, lineFrom: start };
  const openBytes = log.lines.lengths.at(-1) ?? 0;
  const newFrom = start + openBytes;
  const isWhole = (kept.lengths[newAt - kept.from] ?? 0) <= openBytes;
  return isWhole
    ? { added: lines - newAt - 1, newFrom, lineFrom: startOf(text, newAt + 1) }
    : { added: lines - newAt, newFrom, lineFrom: start };
}

/** Where a kept line of a text begins, in bytes. */
function startOf({ kept, size, lines, isOpen }: LogEnd, line: number): number {
  let bytes = 0;
  for (let at = line - kept.from; at < kept.count; at += 1) bytes += kept.width(at);
  return line === lines ? size : size - bytes + (isOpen ? 1 : 0);
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
  const lineEnds = lineEndsOf(text);
  return { lineEnds: log.lineEnds === undefined || lineEnds === log.lineEnds ? undefined : lineEnds };
}

function lineEndsOf({ crLfs, lines, isOpen }: LogEnd): LineEnds | undefined {
  const ended = lines - (isOpen ? 1 : 0);
  if (ended === 0) return undefined;
  return crLfs === 0 ? 'LF' : crLfs === ended ? 'CRLF' : 'LF and CRLF';
}
