import { isMissing, type JoinedRun } from '../archive/join-logs';
import { formatCount, formatTime } from '../terminal/format';

/** What was joined of a cluster's logs, so that nobody takes it for more than it is. */
export class LogTotals {
  readonly cluster: string;
  logs = 0;
  /** Runs before whose logs lines may be lost. */
  readonly gaps: Date[] = [];
  damaged = 0;
  /** Runs that archived a log which is not there. */
  readonly gone: Date[] = [];
  #lines = 0;
  #repeated = 0;
  /** Logs that were compared without their first or last line. */
  #framed = 0;
  /** Whether the last log is newest first, as far as its seam shows. */
  #isNewestFirst = false;
  /** Runs without a log. */
  #missing = 0;
  /** The run since which nothing is new, and that since which the log is empty; undefined: it is not so. */
  frozenSince: Date | undefined;
  emptySince: Date | undefined;
  /** The log that the first one was compared with, and the last one. */
  #base: Date | undefined;
  #last: Date | undefined;

  constructor(cluster: string) {
    this.cluster = cluster;
  }

  add(joined: JoinedRun): void {
    if (isMissing(joined)) {
      if (joined.isGone === true) this.gone.push(joined.run);
      else this.#missing += 1;
      return;
    }
    const { link } = joined;
    if (this.logs === 0) this.#base = link.base;
    this.#last = joined.run;
    // A line that went on was counted where it began.
    const { above = 0, added = 0, newFrom = 0, lineFrom = 0, without = [] } = joined.added ?? {};
    const lines = above + (newFrom > lineFrom ? added - 1 : added);
    if (without.length > 0) this.#framed += 1;
    if (joined.added !== undefined && link.base !== undefined) this.#isNewestFirst = joined.added.isNewestFirst;
    this.logs += 1;
    this.emptySince = link.lines === 0 && joined.head !== undefined ? (this.emptySince ?? joined.run) : undefined;
    this.#lines += lines;
    this.#repeated += link.lines - lines;
    if (joined.head === undefined) this.damaged += 1;
    if (link.seam.kind === 'gap') this.gaps.push(joined.run);
    if (link.seam.kind !== 'older' && link.seam.kind !== 'unknown') this.frozenSince = link.unchangedSince;
  }

  /** @param printed how many of the lines were printed; left out: all */
  summary(printed?: number): string {
    const parts = [
      `${printed === undefined ? '' : `${printed.toLocaleString('en-US')} of `}${formatCount(this.#lines, 'line')} of ${formatCount(this.logs, 'log')}${printed === undefined ? '' : ' lie in this period'}`,
      `${formatCount(this.#repeated, 'repeated line')} left out`,
      ...(this.gone.length > 0 ? [`${formatCount(this.gone.length, 'log')} missing`] : []),
      ...(this.#missing > 0 ? [`${formatCount(this.#missing, 'run')} without a log`] : []),
      ...(this.#framed > 0 ? [`${formatCount(this.#framed, 'log')} compared without a first or last line`] : []),
      this.gaps.length === 0 ? 'no gap' : `${formatCount(this.gaps.length, 'gap')}: lines may be lost`,
    ];
    const frozen = this.frozenSince === undefined ? '' : ` Nothing new since the run ${formatTime(this.frozenSince)}.`;
    const after = this.#base === undefined ? '' : `after the run ${formatTime(this.#base)} and `;
    const ends = this.#last === undefined ? '' : ` They were logged ${after}up to the run ${formatTime(this.#last)}.`;
    const order = this.#isNewestFirst ? ' The log is newest first, and so are the new lines of each run.' : '';
    return `${parts.join(', ')}.${ends}${frozen}${order}`;
  }
}
