import { type LogEnd, mostCompared } from './log-end';
import { LogReader, type ReadLog } from './log-reader';
import { noOverlap, type Seam } from './seam';

/** One archived log of a cluster, and how it follows the one before it. */
export interface LogLink {
  readonly run: Date;
  readonly lines: number;
  readonly seam: Seam;
  /** The run of the log that it was compared with; undefined for the first, which follows none. */
  readonly base: Date | undefined;
  /** The first run that had this end of the log, if the log is unchanged since. */
  readonly unchangedSince: Date | undefined;
}

/** A text that later ones are compared with. */
interface Base {
  readonly run: Date;
  readonly end: LogEnd;
  /** The first run whose log has this end. */
  readonly since: Date;
}

/** Judges the logs of one cluster, oldest first, each against its base: the newest earlier text that is not a stale answer. */
export class LogHistory {
  readonly #mostKept: number;
  #base: Base | undefined;

  /** @param mostKept lines that are kept of the base, 16 bytes each */
  constructor(mostKept = mostCompared) {
    this.#mostKept = mostKept;
  }

  /** What the next log is compared with. */
  get base(): Base | undefined {
    return this.#base;
  }

  /** Reads the next log: write its text, then give its result to {@link add}. */
  reader(): LogReader {
    return new LogReader(this.#base?.end);
  }

  /** @param read undefined: the log cannot be read. Without a text it is not a base either */
  add(run: Date, read: ReadLog | undefined): LogLink {
    const base = this.#base;
    const link = { run, lines: read?.end.lines ?? 0, base: base?.run, unchangedSince: undefined };
    if (read === undefined || link.lines === 0) return { ...link, seam: { ...noOverlap, kind: 'unknown', added: 0 } };
    const { end, seam = { ...noOverlap, kind: 'continues', added: end.lines } } = read;
    if (seam.kind === 'older') return { ...link, seam };
    const unchangedSince = seam.kind === 'unchanged' ? base?.since : undefined;
    end.keep(this.#mostKept);
    this.#base = { run, end, since: unchangedSince ?? run };
    return { ...link, seam, unchangedSince };
  }
}
