import { longestAttemptMs } from '../../../archive/format/clocks';
import { countOutcomes, isComplete } from '../../../archive/format/completeness';
import { type Configuration, isOptional } from '../../../archive/format/configuration';
import { firstResources } from '../../../archive/format/resources';
import {
  type ClusterList,
  type Outcome,
  type Provenance,
  type RunSummary,
  taskName,
} from '../../../archive/format/run-record';
import { isInShard } from '../../../archive/format/shard';
import type { RunRequest } from '../event';
import type { ResourceRequest } from '../service/resource-request';
import { type CollectContext, collect } from './collect';
import { type EarlierAttempts, readEarlierAttempts } from './earlier-attempts';
import { identityOf } from './outcomes';
import type { RecordStore } from './record-store';
import {
  AttemptOutlastedError,
  ClusterListError,
  type DeployedStack,
  RunIncompleteError,
  RunNotFoundError,
} from './run-errors';

/** What one attempt works with. */
export interface AttemptContext extends CollectContext {
  readonly configuration: Configuration;
  readonly records: Pick<RecordStore, 'list' | 'read' | 'write' | 'address'>;
  /** Keeps the configuration that `provenance` names. */
  readonly storeConfiguration: (signal: AbortSignal) => Promise<void>;
  readonly provenance: Provenance;
  readonly stack: DeployedStack;
  /** What was read of a list of clusters from outside; left out: none was. */
  readonly clusterList?: ClusterList | undefined;
  /** Uids that joined the list within a day; left out: none. */
  readonly joined?: ReadonlySet<string> | undefined;
}

/**
 * Makes one attempt of a run: collects what is missing, writes the record, and returns what became of it.
 * @throws RunIncompleteError after everything was attempted, if anything is not archived; RunNotFoundError; ClusterListError
 * after that, if the list of clusters is not in force;
 * ArchiveError or RunRecordError if the record cannot be written, AttemptOutlastedError if its times could not be true,
 * ArchiveError if the configuration cannot be stored
 */
export async function attemptRun(request: RunRequest, context: AttemptContext): Promise<RunSummary> {
  const { clock, keys, records, reporter, stop, clusterList } = context;
  const started = clock.now();
  const startedMs = clock.monotonicMs();
  const run = request.run ?? started;
  const { shard, dryRun } = request;
  let unreadable: unknown;
  const onUnreadable = (error: unknown) => {
    unreadable ??= error;
    reporter.warn('run record not used', error);
  };
  // Read beside the records of earlier attempts. Whoever needs it joins this reading, or begins another one and gets its error.
  keys.current(stop.working).catch(() => undefined);
  const earlierAttempts = await readEarlierAttempts(records, { run, shard }, stop.working, onUnreadable);
  if (request.completes && earlierAttempts.clusters.size === 0) throw new RunNotFoundError(run, unreadable);

  const tasks = tasksOf(run, request, earlierAttempts, context);
  const before = (task: ResourceRequest) => earlierAttempts.outcomes.get(taskName(task));
  const known = (task: ResourceRequest) => {
    // A dry run asks for everything, so that everything is checked.
    const outcome = dryRun ? undefined : before(task);
    return outcome?.outcome === 'already-archived' ? { ...outcome, ...identityOf(task) } : undefined;
  };
  // Beside the collecting. If it fails, the run gets its record nonetheless, and then the attempt fails, so that the next one
  // stores it.
  const storing = context.storeConfiguration(stop.working).then(
    () => undefined,
    (error: unknown) => error,
  );
  const missing = tasks.filter((task) => known(task) === undefined);
  const earlier = {
    attempts: earlierAttempts.attempts,
    archived: tasks.filter((task) => before(task)?.outcome === 'already-archived'),
    hasFailedEarlier: (task: ResourceRequest) => before(task)?.outcome === 'failed',
  };
  const collected = (await collect(missing, { run, earlier }, context)).values();
  const outcomes = tasks.map((task) => known(task) ?? (collected.next().value as Outcome));

  const unstored = await storing;
  if (unstored !== undefined) reporter.warn('configuration not stored', unstored);

  const counts = countOutcomes(outcomes);
  const status = isComplete(counts) ? 'complete' : 'incomplete';
  const stopped = stop.reason?.message;
  const shared = { run: run.toISOString(), status, counts, stopped } as const;
  const finished = clock.now();
  if (finished.getTime() - started.getTime() > longestAttemptMs) throw new AttemptOutlastedError(run, started);
  const name = await records.write({
    version: 1,
    ...shared,
    attempt: earlierAttempts.attempts + 1,
    shard,
    trigger: request.scheduled ? 'schedule' : 'manual',
    startedAt: started.toISOString(),
    finishedAt: finished.toISOString(),
    ...context.provenance,
    clusterList,
    outcomes,
  });
  const written = name && { attempt: name.attempt, record: records.address(name) };
  const durationMs = Math.round(clock.monotonicMs() - startedMs);
  const summary: RunSummary = { ...shared, shard, ...written, dryRun, durationMs };
  const { failed, notAttempted } = countOutcomes(tasks.flatMap((task) => before(task) ?? []));
  reporter.finished(summary, outcomes, failed + notAttempted);
  if (status === 'incomplete') throw new RunIncompleteError(summary, outcomes, context.stack, clusterList);
  if (unstored !== undefined) throw unstored;
  if (clusterList?.problem !== undefined) throw new ClusterListError(clusterList, summary);
  return summary;
}

/** What an attempt covers: the configured clusters, narrowed by what the event asks for. */
function tasksOf(
  run: Date,
  request: RunRequest,
  earlierAttempts: EarlierAttempts,
  { configuration: { clusters, service }, joined }: Pick<AttemptContext, 'configuration' | 'joined'>,
): ResourceRequest[] {
  const { completes, shard } = request;
  const chosen = request.clusters === undefined ? undefined : new Set(request.clusters);
  const isCovered = (uid: string) =>
    (chosen === undefined || chosen.has(uid)) &&
    (!completes || earlierAttempts.clusters.has(uid)) &&
    isInShard(uid, shard);
  return clusters
    .filter(({ uid }) => isCovered(uid))
    .flatMap((cluster) => {
      const { uid, projectUid = service.projectUid, requestId, resources = firstResources, leaving } = cluster;
      const mayBeMissing = leaving !== undefined || isOptional(cluster, run);
      return resources.map((resource) => ({
        cluster: uid,
        resource,
        projectUid,
        requestId: request.requestId ?? requestId,
        ...(mayBeMissing && { optional: true as const }),
        ...(leaving && { leaving: true as const }),
        ...(joined?.has(uid) && { joined: true as const }),
      }));
    });
}
