import type { ComparedText } from './find-overlap';
import type { LineEnds } from './log-end';
import { LogLines, mostCompared } from './log-lines';
import type { Place } from './place-text';

/** What is known of the texts of a log so far: their lines, each once, as the last text has them. */
export interface JoinedLog extends ComparedText {
  /** The text that was added last: its first line, as many lines, and its bytes. */
  readonly latest: { readonly first: number; readonly lines: number; readonly size: number };
  /** Of the text that was added last; undefined: it has not ended a line. */
  readonly lineEnds: LineEnds | undefined;
  /**
   * Above 0 if what is new was mostly at the bottom of texts, which are oldest first; below 0 if it was at their top. Has at
   * most {@link mostLeaning}.
   */
  readonly leaning: number;
  /** The lines without which texts were compared since the last gap: they are others in each text. */
  readonly without: readonly ('first' | 'last')[];
  /** The last lines before the last gap; undefined: there was none, or nobody asks for the lines that a text has of them. */
  readonly before?: LogLines | undefined;
}

/** So many seams that say otherwise, and a log counts as one of the other order. */
export const mostLeaning = 3;

/** So many lines are kept of those before a gap. */
export const mostBefore = 1000;

/** The lines of a log with those of a later text that it does not have. */
export function joinLines(
  earlier: ComparedText,
  later: ComparedText,
  at: number,
  { replacedAbove, replacedBelow }: Place,
): LogLines {
  const [lines, added] = [earlier.lines, later.lines];
  // Numbers of lines are those of the earlier text.
  const [start, end] = [lines.from, lines.from + lines.count];
  const addedStart = at + added.from;
  const from = addedStart <= start ? start + replacedAbove : start;
  const to = Math.max(end - replacedBelow, from);
  const shift = Math.max(-at, 0);
  const before = Math.min(start, addedStart) + shift;
  const total = Math.max(lines.total, at + added.total) + shift;
  const isWhole = from === start && to === end;
  const join = (of: readonly number[], ofAdded: readonly number[]) => {
    const kept = isWhole ? of : of.slice(from - start, to - start);
    const below = ofAdded.slice(Math.max(to - addedStart, 0));
    if (from > addedStart) return ofAdded.slice(0, from - addedStart).concat(kept, below);
    // Most texts have a few lines more than those before: each copy of the others would take longer than to compare them.
    return below.length === 0 ? kept : kept.concat(below);
  };
  const joined = {
    hashes: join(lines.hashes, added.hashes),
    lengths: join(lines.lengths, added.lengths),
    marks: join(lines.marks, added.marks),
  };
  return new LogLines(joined, { from: before, behind: total - before - joined.hashes.length });
}

/** So many lines of a log are kept at least: texts before the last one are of use where a text is stale or reaches further back. */
const fewestKept = 1000;

/** The same log with twice the lines of its last text, and with so many at most: those of the last text, and those around them. */
export function keepLines(joined: JoinedLog, mostKept: number): JoinedLog {
  const { lines, latest } = joined;
  const before = mostKept < mostCompared ? undefined : joined.before;
  const most = Math.min(mostKept, Math.max(fewestKept, 2 * latest.lines));
  if (lines.count <= most) return { ...joined, before };
  const latestEnd = Math.min(latest.first + latest.lines - lines.from, lines.count);
  const start = Math.max(latestEnd - most, 0);
  const end = start + most;
  return { ...joined, before, lines: lines.part(start, end), isOpen: joined.isOpen && end >= lines.count };
}
