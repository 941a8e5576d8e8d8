import { allClusters, clusterNames } from '../verify/clusters';
import { notAKey } from '../verify/finding';
import { judge, judgeBeside } from '../verify/judge';
import type { Period } from '../verify/run-keys';
import type { Hashed } from '../verify/seals/seal';
import { type AuditWalk, inTime, judging } from './audit-walk';
import type { SealedRuns } from './sealed-runs';

/** Runs without their sealed record that one audit looks at: all the others are judged with what is old. */
const mostRuns = 20;

/**
 * Lists what all clusters of the bucket have of the new runs, and of those that have lost a sealed record. It lists cluster by
 * cluster, so that its cost does not grow with the archive's age.
 * @param search the new runs
 * @returns hashes of what no run record names; undefined if the time did not suffice
 * @throws ArchiveReadError if the archive cannot be read
 */
export function judgeUnnamed(walk: AuditWalk, search: Period, runs: SealedRuns): Promise<Hashed[] | undefined> {
  return inTime(walk, async () => {
    const names = await clusterNames(walk.reader, ({ key, damage }) => walk.find('unrecorded', key, damage ?? notAKey));
    const clusters = allClusters(names);
    for (const time of [...walk.incomplete.keys()].slice(0, mostRuns)) {
      const run = new Date(time);
      const { context, settle } = judging(walk, { isRead: () => false });
      for await (const _ of judge({ from: run, to: run, clusters }, context));
      await settle();
    }
    if (runs.lastKey !== null) return undefined;
    const { context, settle } = judging(walk, { isRead: () => false });
    await judgeBeside({ ...search, clusters }, context, runs.met);
    return settle();
  });
}
