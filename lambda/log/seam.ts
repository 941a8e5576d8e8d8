import { LineReader } from './line-reader';
import { LogEnd } from './log-end';
import { type Overlap, OverlapSearch, openBytes } from './overlap-search';

/**
 * How an archived log follows the one before it.
 * - `unchanged`: nothing is new at its end.
 * - `continues`: it goes on from the earlier one's end.
 * - `older`: it ends before the earlier one does: a stale answer, which adds nothing.
 * - `gap`: nothing of the earlier one's end is in it. Lines may be lost, or the log was begun anew.
 * - `unknown`: there is no text to compare.
 */
export type SeamKind = 'unchanged' | 'continues' | 'older' | 'gap' | 'unknown';

export interface Seam extends Omit<Overlap, 'lines'> {
  readonly kind: SeamKind;
  /** Lines that both logs have. */
  readonly shared: number;
  /** Lines behind them: at least so many if `isAmbiguous`. All of the log at a gap. */
  readonly added: number;
}

/**
 * A text that was read to its end, and how it follows each of the earlier ones that it was compared with. Only of the first,
 * its base, is it known whether it is older: of all others that is a gap too.
 */
export interface ReadLog {
  readonly end: LogEnd;
  readonly seams: readonly Seam[];
}

/** Reads the text of a log once, in any chunks, and compares it with earlier ones. */
export class LogReader extends LineReader {
  readonly #earlier: readonly LogEnd[];
  readonly #searches: readonly OverlapSearch[];
  readonly #end: LogEnd;

  /** @param end of no text yet: takes the end of this one. It keeps at least as many lines as the earlier ones do */
  constructor(earlier: readonly LogEnd[], end = new LogEnd()) {
    const lengths = [...new Set(earlier.flatMap((one) => openBytes(one) ?? []))].sort((a, b) => a - b);
    const searches = earlier.map((one) => new OverlapSearch(one, end, lengths.indexOf(openBytes(one) ?? -1)));
    const listeners = [end, ...searches];
    super(
      {
        line: (hash, bytes, isOpen, text, beginnings) => {
          for (const listener of listeners) listener.line(hash, bytes, isOpen, text, beginnings);
        },
      },
      lengths,
    );
    this.#earlier = earlier;
    this.#searches = searches;
    this.#end = end;
  }

  /** Call this once, after the text. */
  result(): ReadLog {
    this.end();
    const end = this.#end;
    return { end, seams: this.#earlier.map((earlier, at) => judge(earlier, at === 0, end, this.#searches[at]?.end())) };
  }
}

/** What a seam says where both logs have nothing in common. */
export const noOverlap = { shared: 0, newFrom: 0, lineFrom: 0, isShort: false, isAmbiguous: false } as const;

function judge(earlier: LogEnd, isBase: boolean, later: LogEnd, overlap: Overlap | undefined): Seam {
  const { lines } = later;
  if (lines === 0) return { ...noOverlap, kind: 'unknown', added: 0 };
  if (overlap !== undefined) {
    const { lines: upTo, ...place } = overlap;
    const added = lines - upTo;
    return { ...place, kind: added === 0 ? 'unchanged' : 'continues', shared: Math.min(earlier.lines, upTo), added };
  }
  if (isBase && endsWithin(later, earlier)) return { ...noOverlap, kind: 'older', added: 0 };
  return { ...noOverlap, kind: 'gap', added: lines };
}

/**
 * Whether a text ends inside an earlier one, by the same proof. Of a last line without LF only the length is compared: of
 * the earlier text's lines, the hashes of beginnings are not known.
 */
function endsWithin(later: LogEnd, earlier: LogEnd): boolean {
  // That it begins with all of it would be no proof.
  const search = new OverlapSearch(later.wholeLines(), earlier, 0);
  earlier.tell(search);
  const overlap = search.end();
  if (overlap === undefined || overlap.lines === earlier.lines) return false;
  return earlier.bytesOf(overlap.lines) >= (openBytes(later) ?? 0);
}
