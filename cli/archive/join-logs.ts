import type { Seam } from '../../lambda/log/seam';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type LogSnapshot, logSnapshots, type MissingLog, type SnapshotOptions } from './log-snapshots';

/** A log, or a run without one, as it stands in the joined log. */
export type JoinedRun = MissingLog | JoinedLog;

export interface JoinedLog extends LogSnapshot {
  /** What no log before it has; undefined: it adds nothing, or a later log has all of it. */
  readonly added: Pick<Seam, 'shared' | 'added' | 'newFrom' | 'lineFrom'> | undefined;
  /** The run of the log that reaches back across the gap that was told here. */
  readonly closedBy: Date | undefined;
}

export function isMissing(joined: JoinedRun): joined is MissingLog {
  return 'reason' in joined;
}

/**
 * The logs of a cluster with what each adds to those before it, oldest first. A log at which a gap was told comes when it
 * is known whether a later log closes the gap: then the later one has what was between, and the logs at the gap add nothing.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* joinLogs(reader: ArchiveReader, options: SnapshotOptions): AsyncGenerator<JoinedRun> {
  let waiting: JoinedRun[] = [];
  for await (const next of logSnapshots(reader, options)) {
    if (!('link' in next)) {
      waiting.push(next);
    } else {
      const closed = next.link.closed.at(-1);
      if (closed !== undefined) waiting = waiting.map((one) => withinClosedGap(one, closed.run, next.run));
      waiting.push({ ...next, added: addsNothing(next) ? undefined : (closed ?? next.link).seam, closedBy: undefined });
      const oldestGap = next.openGaps.at(-1);
      const ready = oldestGap === undefined ? waiting.length : waiting.findIndex(({ run }) => run >= oldestGap);
      yield* waiting.splice(0, ready < 0 ? waiting.length : ready);
    }
  }
  yield* waiting;
}

/** Lines may be lost here, and no later log has them. */
export function isGap({ link, closedBy }: JoinedLog): boolean {
  return link.seam.kind === 'gap' && closedBy === undefined;
}

/** Lines of a log that are from before the one that it follows: it reaches further back, and they are not printed. */
export function linesBefore({ link, added }: JoinedLog): number {
  return added === undefined ? 0 : Math.max(link.lines - added.shared - added.added, 0);
}

/** The new text of a joined log. */
export function newText({ added, textFrom }: JoinedLog): AsyncIterable<Buffer> | readonly Buffer[] {
  return added === undefined ? [] : textFrom(added.newFrom);
}

function addsNothing({ link: { seam } }: LogSnapshot): boolean {
  return seam.kind === 'older' || seam.kind === 'unknown';
}

function withinClosedGap(joined: JoinedRun, gap: Date, closedBy: Date): JoinedRun {
  if (isMissing(joined) || joined.run < gap) return joined;
  return { ...joined, added: undefined, closedBy: joined.closedBy ?? closedBy };
}
