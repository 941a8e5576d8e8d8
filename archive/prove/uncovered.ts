import { taskName } from '../format/run-record';
import { isInShard } from '../format/shard';
import type { StoredRun } from '../read/read-run';
import type { StoredConfigurations } from '../read/stored-configurations';

/** Clusters that a run was to collect, and that no record of it covers. */
export interface Uncovered {
  readonly count: number;
  /** The first of them, in the order of the configuration. */
  readonly first: readonly string[];
  /** How many clusters its configuration has. */
  readonly configured: number;
}

/** Clusters that are named. */
const mostNamed = 5;

/**
 * What no record of a run covers of the configuration that it began with, whoever started which attempt: the trigger that a
 * record claims is never enough. A part of the fleet that has records of its own is judged by theirs.
 * @throws ArchiveReadError if a configuration could be read another time
 */
export async function uncoveredOf(
  { read, counts, outcomes }: Pick<StoredRun, 'read' | 'counts' | 'outcomes'>,
  configurations: StoredConfigurations,
): Promise<Uncovered | undefined> {
  const records = read.flatMap(({ record }) => record ?? []);
  // By their numbers: the clocks of two attempts may differ by more than lies between them.
  const [first] = records.toSorted((a, b) => a.attempt - b.attempt || (a.startedAt < b.startedAt ? -1 : 1));
  const begun = first && (await configurations.get(first.configuration));
  if (begun === undefined) return undefined;
  const tasks = [...begun.clusters.values()].reduce((sum, { resources }) => sum + resources.length, 0);
  const { archived, failed, notAttempted, optionalMissing } = counts;
  // Reading all outcomes once more takes time. What its own configuration does not have is found where a record is judged.
  const none = { count: 0, first: [], configured: begun.clusters.size };
  const haveOne = records.every(({ configuration }) => configuration === first?.configuration);
  if (haveOne && archived + failed + notAttempted + optionalMissing >= tasks) return none;
  const covered = new Set<string>();
  for (const outcome of outcomes) covered.add(taskName(outcome));
  const others = new Map<string, Awaited<ReturnType<StoredConfigurations['get']>>>();
  for (const { configuration } of records)
    if (configuration !== first?.configuration) others.set(configuration, await configurations.get(configuration));
  const isElsewhere = (cluster: string) =>
    records.some(({ shard, configuration }) => {
      const other = others.get(configuration);
      return shard !== undefined && isInShard(cluster, shard) && other !== undefined && !other.clusters.has(cluster);
    });
  const uncovered: string[] = [];
  for (const [cluster, { resources }] of begun.clusters) {
    const isCovered = resources.every((resource) => covered.has(taskName({ cluster, resource })));
    if (!isCovered && !isElsewhere(cluster)) uncovered.push(cluster);
  }
  return { ...none, count: uncovered.length, first: uncovered.slice(0, mostNamed) };
}
