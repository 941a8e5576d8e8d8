import type { Seam } from '../../lambda/log/seam';
import { clusterObjectsNewestFirst } from '../../lambda/verify/objects-between';
import type { ClusterRecord } from './cluster-record';
import { LogsInTurn, type ReadLog } from './logs-in-turn';
import type { OpenedArchive } from './open-archive';
import type { RecordedRun } from './recorded-object';
import { whyMissing } from './select-object';

/** A log, or a run without one, as it stands in the joined log. */
export type JoinedRun = MissingLog | JoinedLog;

/** A run that has no log of the cluster. */
interface MissingLog {
  readonly run: Date;
  readonly reason: string;
}

export interface JoinedLog extends ReadLog {
  /** What the records of its run say of the cluster; undefined: there are none, or they were not read. */
  readonly record: ClusterRecord | undefined;
  /** What the log that it follows does not have; undefined: it adds nothing. */
  readonly added: Pick<Seam, 'shared' | 'added' | 'newFrom' | 'lineFrom'> | undefined;
}

export function isMissing(joined: JoinedRun): joined is MissingLog {
  return 'reason' in joined;
}

/**
 * The logs of some runs of a cluster with what each adds to those before it, oldest first, and the runs between them that
 * have none. The newest log with a text before the runs is the base of the first.
 * @param from where the runs begin; undefined: with the oldest
 * @param isHeld whether texts are wanted
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* joinLogs(
  { archive, now }: Pick<OpenedArchive, 'archive' | 'now'>,
  cluster: string,
  from: Date | undefined,
  runs: AsyncIterable<RecordedRun> | Iterable<RecordedRun>,
  isHeld: boolean,
): AsyncGenerator<JoinedRun> {
  const logs = new LogsInTurn(archive, isHeld);
  const before = from && { to: new Date(from.getTime() - 1) };
  if (before !== undefined)
    for await (const object of clusterObjectsNewestFirst(archive, 'log', cluster, before, now))
      if (!addsNothing(await logs.read(object))) break;
  for await (const { run, object, record } of runs)
    if (object !== undefined) {
      const log = await logs.read(object);
      yield { ...log, record, added: addsNothing(log) ? undefined : log.link.seam };
    } else if (record !== undefined) yield { run, reason: whyMissing(record, 'log', cluster) };
}

/** Lines may be lost here. */
export function isGap({ link }: JoinedLog): boolean {
  return link.seam.kind === 'gap';
}

/** Lines of a log that are from before the one that it follows: it reaches further back, and they are not printed. */
export function linesBefore({ link, added }: JoinedLog): number {
  return added === undefined ? 0 : Math.max(link.lines - added.shared - added.added, 0);
}

function addsNothing({ link: { seam } }: ReadLog): boolean {
  return seam.kind === 'older' || seam.kind === 'unknown';
}
