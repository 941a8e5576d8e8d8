import { isSameText, LogEnd } from './log-end';
import { LogReader, noOverlap, type ReadLog, type Seam } from './seam';

/** One archived log of a cluster, and how it follows those before it. */
export interface LogLink {
  readonly run: Date;
  readonly lines: number;
  readonly seam: Seam;
  /** The run of the log that it was compared with; undefined for the first, which follows none. */
  readonly base: Date | undefined;
  /** The runs at whose logs a gap was told that this log has closed: it reaches back across it. */
  readonly closed: readonly ClosedGap[];
  /** The first run that had this end of the log, if the log is unchanged since. */
  readonly unchangedSince: Date | undefined;
}

export interface ClosedGap {
  /** At whose log the gap was told. */
  readonly run: Date;
  /** How the log that closed it follows the one before the gap. */
  readonly seam: Seam;
}

/** A text that later ones are compared with. */
interface Earlier {
  readonly run: Date;
  readonly end: LogEnd;
  /** The first run whose log has this end. */
  readonly since: Date;
}

/** What is kept of earlier logs. */
interface Kept {
  /** Lines of each, 16 bytes for a line; left out: as many as are compared. */
  readonly lines?: number;
  /** Gaps that a later log may still close, the newest ones. */
  readonly openGaps: number;
  /** Ends that nothing is compared with any more: the next logs take their memory. Histories may have them together. */
  readonly spare: LogEnd[];
}

/** Judges the logs of one cluster, oldest first, each against its base: the newest earlier text that is no stale answer. */
export class LogHistory {
  readonly #kept: Kept;
  #base: Earlier | undefined;
  /** The logs before gaps that are still open, newest first, with the run at which the gap was told. */
  #beforeGaps: (Earlier & { readonly toldAt: Date })[] = [];

  constructor(kept: Kept = { openGaps: 4, spare: [] }) {
    this.#kept = kept;
  }

  /** The runs at whose logs a gap was told that a later log may still close. */
  get openGaps(): Date[] {
    return this.#beforeGaps.map(({ toldAt }) => toldAt);
  }

  /** What the next log is compared with: the base, and the logs before open gaps. */
  get earlier(): readonly Earlier[] {
    return this.#base === undefined ? [] : [this.#base, ...this.#beforeGaps];
  }

  /** Reads the next log: write its text, then give its result to {@link add}. */
  reader(): LogReader {
    const ends = this.earlier.map(({ end }) => end);
    const spare = this.#kept.spare.pop();
    spare?.clear();
    return new LogReader(ends, spare ?? new LogEnd(this.#kept.lines));
  }

  /** @param read undefined: the log cannot be read. Without a text too it is no base. Its end is no longer the caller's */
  add(run: Date, read: ReadLog | undefined): LogLink {
    const before = this.earlier;
    const link = this.#judge(run, read);
    const kept = this.earlier.map(({ end }) => end);
    for (const { end } of read === undefined ? before : [...before, read])
      if (!kept.includes(end)) this.#kept.spare.push(end);
    return link;
  }

  #judge(run: Date, read: ReadLog | undefined): LogLink {
    const base = this.#base;
    const link = { run, lines: read?.end.lines ?? 0, base: base?.run, closed: [], unchangedSince: undefined };
    if (read === undefined || link.lines === 0) return { ...link, seam: { ...noOverlap, kind: 'unknown', added: 0 } };
    const {
      end,
      seams: [seam, ...acrossGaps],
    } = read;
    if (seam === undefined || base === undefined) {
      this.#base = { run, end, since: run };
      return { ...link, seam: { ...noOverlap, kind: 'continues', added: end.lines } };
    }
    if (seam.kind === 'older') return { ...link, seam };
    if (seam.kind === 'gap' && this.#isFromBeforeGap(end, acrossGaps))
      return { ...link, seam: { ...seam, kind: 'older', added: 0 } };
    if (seam.kind === 'gap') {
      this.#beforeGaps = [{ ...base, toldAt: run }, ...this.#beforeGaps].slice(0, this.#kept.openGaps);
      this.#base = { run, end, since: run };
      return { ...link, seam };
    }
    const closed = this.#close(acrossGaps, seam);
    const unchangedSince = seam.kind === 'unchanged' ? base.since : undefined;
    this.#base = { run, end, since: unchangedSince ?? run };
    return { ...link, seam, closed, unchangedSince };
  }

  /** The very text that was there before a gap: a stale answer too. A part of it would be no proof of that. */
  #isFromBeforeGap(end: LogEnd, seams: readonly Seam[]): boolean {
    return this.#beforeGaps.some((before, at) => seams[at]?.isShort === false && isSameText(before.end, end));
  }

  /**
   * Only if all gaps behind it are closed too: otherwise the text between them would still be missing. In this log, the one
   * before the gap has to begin before the base ends: otherwise the base's lines would be in nothing that is printed.
   */
  #close(seams: readonly Seam[], base: Seam): ClosedGap[] {
    const open = seams.findIndex(
      ({ kind, isShort, shared, added }) =>
        isShort || (kind !== 'continues' && kind !== 'unchanged') || shared + added <= base.added,
    );
    const closed = this.#beforeGaps.splice(0, open < 0 ? this.#beforeGaps.length : open);
    return closed.flatMap(({ toldAt }, at) => (seams[at] === undefined ? [] : { run: toldAt, seam: seams[at] }));
  }
}
