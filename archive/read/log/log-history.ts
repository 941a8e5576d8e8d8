import { type JoinedLog, keepLines } from './joined-log';
import { mostCompared } from './log-lines';
import { LogReader, type ReadLog } from './log-reader';
import { noOverlap, type Seam } from './seam';

/** One archived log of a cluster, and how it follows those before it. */
export interface LogLink {
  readonly run: Date;
  readonly lines: number;
  readonly seam: Seam;
  /** The run of the log that it was compared with; undefined for the first, which follows none. */
  readonly base: Date | undefined;
  /** The first run that had this end of the log, if the log is unchanged since. */
  readonly unchangedSince: Date | undefined;
}

/** The newest text that is not a stale answer, and the log up to it. */
interface Base {
  readonly run: Date;
  readonly log: JoinedLog;
  /** The first run whose log has this end. */
  readonly since: Date;
}

/** Judges the logs of one cluster, oldest first, each against the log that those before it make. */
export class LogHistory {
  readonly #mostKept: number;
  #base: Base | undefined;

  /** @param mostKept lines that are kept of the log, 24 bytes each */
  constructor(mostKept = mostCompared) {
    this.#mostKept = mostKept;
  }

  /** What the next log is compared with. */
  get base(): Base | undefined {
    return this.#base;
  }

  /** Reads the next log: write its text, then give its result to {@link add}. */
  reader(): LogReader {
    return new LogReader(this.#base?.log);
  }

  /** @param read undefined: the log cannot be read. Without a text it is not a base either */
  add(run: Date, read: ReadLog | undefined): LogLink {
    const base = this.#base;
    const link = { run, lines: read?.lines ?? 0, base: base?.run, unchangedSince: undefined };
    if (read === undefined || link.lines === 0) return { ...link, seam: { ...noOverlap, kind: 'unknown', added: 0 } };
    const { lines, joined, seam = { ...noOverlap, kind: 'continues', added: lines } } = read;
    const log = keepLines(joined, this.#mostKept);
    // A stale answer may have lines that none had before, but it is not what the next log follows.
    if (seam.kind === 'older' && base !== undefined) {
      this.#base = { ...base, log };
      return { ...link, seam };
    }
    const unchangedSince = seam.kind === 'unchanged' ? base?.since : undefined;
    this.#base = { run, log, since: unchangedSince ?? run };
    return { ...link, seam, unchangedSince };
  }
}
