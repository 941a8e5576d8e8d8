import type { Seam } from '../../lambda/log/seam';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type ClusterObject, clusterObjects, clusterObjectsNewestFirst } from '../../lambda/verify/objects-between';
import { type ListedRun, type Period, runsBetween } from '../../lambda/verify/run-keys';
import { readClusterRecord } from './cluster-record';
import { byRun } from './list-outcomes';
import { LogsInTurn, type ReadLog } from './logs-in-turn';
import { whyMissing } from './select-object';

/** A log, or a run without one, as it stands in the joined log. */
export type JoinedRun = MissingLog | JoinedLog;

/** A run that has no log of the cluster. */
export interface MissingLog {
  readonly run: Date;
  readonly reason: string;
}

export interface JoinedLog extends ReadLog {
  /** What the log that it follows does not have; undefined: it adds nothing. */
  readonly added: Pick<Seam, 'shared' | 'added' | 'newFrom' | 'lineFrom'> | undefined;
}

export function isMissing(joined: JoinedRun): joined is MissingLog {
  return 'reason' in joined;
}

/**
 * The logs of a cluster in a period with what each adds to those before it, oldest first, and the runs between them that
 * have none. The newest log with a text before the period is the base of the first.
 * @param isHeld whether texts are wanted
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* joinLogs(
  reader: ArchiveReader,
  cluster: string,
  period: Period,
  isHeld: boolean,
  now: Date,
): AsyncGenerator<JoinedRun> {
  const logs = new LogsInTurn(reader, isHeld);
  const before = period.from && { to: new Date(period.from.getTime() - 1) };
  if (before !== undefined)
    for await (const object of clusterObjectsNewestFirst(reader, 'log', cluster, before, now))
      if (!addsNothing(await logs.read(object))) break;
  let archived: number | undefined;
  const objects = clusterObjects(reader, 'log', cluster, period);
  for await (const item of byRun<ClusterObject | ListedRun>([objects, runsBetween(reader, period)])) {
    const { run } = item;
    if ('key' in item) {
      archived = run.getTime();
      const log = await logs.read(item);
      yield { ...log, added: addsNothing(log) ? undefined : log.link.seam };
    } else if (run.getTime() !== archived) {
      yield { run, reason: whyMissing(await readClusterRecord(reader, item, cluster), 'log', cluster) };
    }
  }
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
