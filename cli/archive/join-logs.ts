import { objectKey } from '../../lambda/archive/archive-layout';
import type { Seam } from '../../lambda/log/seam';
import { clusterObjectsNewestFirst } from '../../lambda/verify/objects-between';
import { LogsInTurn, type ReadLog } from './logs-in-turn';
import type { OpenedArchive } from './open-archive';
import { archivedAndGone } from './select-object';

/** A log, or a run without one, as it stands in the joined log. */
export type JoinedRun = MissingLog | JoinedLog;

/** A run that has no log of the cluster. */
export interface MissingLog {
  readonly run: Date;
  readonly reason: string;
}

/** A run that archived a log of the cluster. */
export interface ArchivedLog {
  readonly run: Date;
  readonly reason?: undefined;
}

export interface JoinedLog extends ReadLog, ArchivedLog {
  readonly run: Date;
  /** What the log that it follows does not have; undefined: it adds nothing. */
  readonly added: Pick<Seam, 'shared' | 'added' | 'newFrom' | 'lineFrom'> | undefined;
}

export function isMissing(joined: JoinedRun): joined is MissingLog {
  return joined.reason !== undefined;
}

/**
 * The logs of some runs of a cluster with what each adds to those before it, oldest first, and the runs between them that
 * have none. The newest log with a text before the runs is the base of the first.
 * @param isHeld whether texts are wanted
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function* joinLogs<Archived extends ArchivedLog>(
  { archive, now }: Pick<OpenedArchive, 'archive' | 'now'>,
  cluster: string,
  runs: AsyncIterable<Archived | MissingLog> | Iterable<Archived | MissingLog>,
  isHeld: boolean,
): AsyncGenerator<(Archived & JoinedLog) | MissingLog> {
  const logs = new LogsInTurn(archive, isHeld);
  let isFirst = true;
  for await (const one of runs) {
    const { run } = one;
    if (isFirst)
      for await (const { key, run: time } of clusterObjectsNewestFirst(archive, 'log', cluster, before(run), now)) {
        const log = await logs.read(time, key);
        if (log !== undefined && !addsNothing(log)) break;
      }
    isFirst = false;
    if (one.reason !== undefined) {
      yield one;
      continue;
    }
    const log = await logs.read(run, objectKey({ resource: 'log', cluster, run }));
    if (log === undefined) yield { run, reason: archivedAndGone(run) };
    else yield { ...one, ...log, added: addsNothing(log) ? undefined : log.link.seam };
  }
}

function before(run: Date) {
  return { to: new Date(run.getTime() - 1) };
}

/** Lines of a log that are from before the one that it follows: it reaches further back, and they are not printed. */
export function linesBefore({ link, added }: JoinedLog): number {
  return added === undefined ? 0 : Math.max(link.lines - added.shared - added.added, 0);
}

function addsNothing({ link: { seam } }: ReadLog): boolean {
  return seam.kind === 'older' || seam.kind === 'unknown';
}
