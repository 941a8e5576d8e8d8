import { isSameText, type LogEnd } from './log-end';
import { LogReader, type ReadLog, type Seam } from './seam';

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

interface Base {
  readonly run: Date;
  readonly end: LogEnd;
}

/** Gaps that a later log may still close, the newest ones. Each keeps the end of a log: 1.6 MB at most. */
const mostOpenGaps = 4;

/** Judges the logs of one cluster, oldest first, each against its base: the newest earlier text that is no stale answer. */
export class LogHistory {
  #base: Base | undefined;
  /** The first run whose log has the base's end. */
  #endSince: Date | undefined;
  /** The logs before gaps that are still open, newest first, with the run at which the gap was told. */
  #beforeGaps: (Base & { readonly toldAt: Date })[] = [];

  /** The runs at whose logs a gap was told that a later log may still close. */
  get openGaps(): Date[] {
    return this.#beforeGaps.map(({ toldAt }) => toldAt);
  }

  /** Reads the next log: write its text, then give what its end returns to {@link add}. */
  reader(): LogReader {
    const base = this.#base === undefined ? [] : [this.#base.end];
    return new LogReader([...base, ...this.#beforeGaps.map(({ end }) => end)]);
  }

  /** A log that has no text, or cannot be read: it is no base. */
  skip(run: Date): LogLink {
    const seam: Seam = {
      kind: 'unknown',
      shared: 0,
      added: 0,
      newFrom: 0,
      lineFrom: 0,
      isShort: false,
      isAmbiguous: false,
    };
    return { run, lines: 0, seam, base: this.#base?.run, closed: [], unchangedSince: undefined };
  }

  add(run: Date, { end, seams: [seam, ...acrossGaps] }: ReadLog): LogLink {
    if (end.lines === 0) return this.skip(run);
    const base = this.#base?.run;
    const common = { run, lines: end.lines, base };
    const first: Seam = {
      kind: 'gap',
      shared: 0,
      added: end.lines,
      newFrom: 0,
      lineFrom: 0,
      isShort: false,
      isAmbiguous: false,
    };
    if (seam === undefined || base === undefined) {
      this.#follow(run, end);
      return { ...common, seam: { ...first, kind: 'continues' }, closed: [], unchangedSince: undefined };
    }
    if (seam.kind === 'older') return { ...common, seam, closed: [], unchangedSince: undefined };
    if (seam.kind === 'gap' && this.#isFromBeforeGap(end, acrossGaps))
      return { ...common, seam: { ...seam, kind: 'older', added: 0 }, closed: [], unchangedSince: undefined };
    if (seam.kind === 'gap') {
      this.#openGap(run);
      this.#follow(run, end);
      return { ...common, seam, closed: [], unchangedSince: undefined };
    }
    const closed = this.#close(acrossGaps, seam);
    if (seam.kind === 'unchanged') this.#base = { run, end };
    else this.#follow(run, end);
    return { ...common, seam, closed, unchangedSince: seam.kind === 'unchanged' ? this.#endSince : undefined };
  }

  #follow(run: Date, end: LogEnd): void {
    this.#base = { run, end };
    this.#endSince = run;
  }

  /** The very text that was there before a gap: a stale answer too. A part of it would be no proof of that. */
  #isFromBeforeGap(end: LogEnd, seams: readonly Seam[]): boolean {
    return this.#beforeGaps.some((before, at) => seams[at]?.isShort === false && isSameText(before.end, end));
  }

  #openGap(toldAt: Date): void {
    if (this.#base !== undefined) this.#beforeGaps.unshift({ ...this.#base, toldAt });
    this.#beforeGaps.splice(mostOpenGaps);
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
