import type { Seam } from '../../lambda/log/seam';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type ClusterObject, clusterObjects, clusterObjectsNewestFirst } from '../../lambda/verify/objects-between';
import { readRun } from '../../lambda/verify/read-run';
import { type ListedRun, type Period, runsBetween } from '../../lambda/verify/run-keys';
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
  /** What no log before it has; undefined: it adds nothing, or a later log has all of it. */
  readonly added: Pick<Seam, 'shared' | 'added' | 'newFrom' | 'lineFrom'> | undefined;
  /** The run of the log that reaches back across the gap that was told here. */
  readonly closedBy: Date | undefined;
}

export function isMissing(joined: JoinedRun): joined is MissingLog {
  return 'reason' in joined;
}

/**
 * The logs of a cluster in a period with what each adds to those before it, oldest first, and the runs between them that
 * have none. The newest log with a text before the period is the base of the first. A log at which a gap was told comes when
 * it is known whether a later log closes the gap: then the later one has what was between, and the logs at the gap add nothing.
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
  let waiting: JoinedRun[] = [];
  let archived: number | undefined;
  const objects = clusterObjects(reader, 'log', cluster, period);
  for await (const item of byRun<ClusterObject | ListedRun>([objects, runsBetween(reader, period)])) {
    const { run } = item;
    if ('key' in item) {
      archived = run.getTime();
      const log = await logs.read(item);
      const closed = log.link.closed.at(-1);
      if (closed !== undefined) waiting = waiting.map((one) => withinClosedGap(one, closed.run, run));
      waiting.push({ ...log, added: addsNothing(log) ? undefined : (closed ?? log.link).seam, closedBy: undefined });
    } else if (run.getTime() !== archived) {
      waiting.push({ run, reason: whyMissing(await readRun(reader, item), 'log', cluster) });
    }
    const { oldestGap } = logs;
    const ready = oldestGap === undefined ? waiting.length : waiting.findIndex((one) => one.run >= oldestGap);
    yield* waiting.splice(0, ready < 0 ? waiting.length : ready);
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

function addsNothing({ link: { seam } }: ReadLog): boolean {
  return seam.kind === 'older' || seam.kind === 'unknown';
}

function withinClosedGap(joined: JoinedRun, gap: Date, closedBy: Date): JoinedRun {
  if (isMissing(joined) || joined.run < gap) return joined;
  return { ...joined, added: undefined, closedBy: joined.closedBy ?? closedBy };
}
