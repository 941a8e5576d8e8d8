import type { RunRecordName } from '../archive/archive-layout';
import type { RunRequest } from '../event';
import { resourceNames } from '../resources';
import type { ResourceRequest } from '../service/resource-request';
import type { Collection } from '../stack-contract';
import { type CollectContext, collect } from './collect';
import { nameOf } from './outcomes';
import { type DeployedStack, RunIncompleteError, RunNotFoundError } from './run-errors';
import { noHistory, type RecordSource, type RunHistory, readHistory } from './run-history';
import {
  countOutcomes,
  isComplete,
  type Outcome,
  type Provenance,
  type RunRecord,
  type RunSummary,
  taskName,
} from './run-record';
import { isInShard } from './shard';

/** Where run records are kept. */
export interface RecordStore extends RecordSource {
  write(record: RunRecord): Promise<RunRecordName>;
  address(name: RunRecordName): string;
}

/** What one attempt works with. */
export interface AttemptContext extends CollectContext {
  readonly collection: Collection;
  readonly records: RecordStore;
  /** Keeps the configuration that `provenance` names. */
  readonly configurations: { store(signal: AbortSignal): Promise<void> };
  readonly provenance: Provenance;
  readonly stack: DeployedStack;
}

/**
 * Makes one attempt of a run: collects what is missing, writes the record, and returns what became of it.
 * @throws RunIncompleteError after everything was attempted, if anything is not archived; RunNotFoundError;
 * ArchiveError or RunRecordError if the record cannot be written, ArchiveError if the configuration cannot be stored
 */
export async function attemptRun(request: RunRequest, context: AttemptContext): Promise<RunSummary> {
  const { clock, keys, records, reporter, stop } = context;
  const started = clock.now();
  const startedMs = clock.monotonicMs();
  const run = request.run ?? started;
  const { shard, dryRun } = request;
  const unreadable: unknown[] = [];
  const onUnreadable = (error: unknown) => {
    unreadable.push(error);
    reporter.unreadableRecord(error);
  };
  // Read beside the history. Whoever needs it joins this reading, or begins another one and gets its error.
  keys.current(stop.working).catch(() => undefined);
  const history =
    dryRun && !request.completes ? noHistory : await readHistory(records, { run, shard }, stop.working, onUnreadable);
  if (request.completes && history.clusters.size === 0) throw new RunNotFoundError(run, unreadable);

  const tasks = tasksOf(request, history, context.collection);
  const known = (task: ResourceRequest) => {
    const outcome = dryRun ? undefined : history.archived.get(taskName(task));
    return outcome && { ...outcome, ...nameOf(task) };
  };
  // Beside the collecting. If it fails, the run gets its record nonetheless, and then the attempt fails, so that the next one
  // stores it.
  const storing = dryRun ? undefined : failureOf(context.configurations.store(stop.working));
  const missing = tasks.filter((task) => known(task) === undefined);
  const earlier = {
    attempts: history.attempts,
    archived: tasks.filter((task) => history.archived.has(taskName(task))),
    hasFailed: (task: ResourceRequest) => history.failed.has(taskName(task)),
  };
  const collected = (await collect(missing, { run, dryRun, earlier }, context)).values();
  const outcomes = tasks.map((task) => known(task) ?? next(collected));

  const unstored = await storing;
  if (unstored !== undefined) reporter.configurationNotStored(unstored);

  const counts = countOutcomes(outcomes);
  const status = isComplete(counts) ? 'complete' : 'incomplete';
  const stopped = stop.reason?.message;
  const durationMs = () => Math.round(clock.monotonicMs() - startedMs);
  const shared = { run: run.toISOString(), status, counts, stopped } as const;
  let written: { attempt: number; record: string } | undefined;
  if (!dryRun) {
    const times = { startedAt: started.toISOString(), finishedAt: clock.now().toISOString() };
    const attempt = history.attempts + 1;
    const trigger = request.scheduled ? 'schedule' : 'manual';
    const record: RunRecord = {
      version: 1,
      ...shared,
      attempt,
      shard,
      trigger,
      ...times,
      ...context.provenance,
      outcomes,
    };
    const name = await records.write(record);
    written = { attempt: name.attempt, record: records.address(name) };
  }
  const summary: RunSummary = { ...shared, shard, ...written, dryRun, durationMs: durationMs() };
  reporter.finished(summary, outcomes, tasks.filter((task) => history.missing.has(taskName(task))).length);
  if (status === 'incomplete') throw new RunIncompleteError(summary, outcomes, context.stack);
  if (unstored !== undefined) throw unstored;
  return summary;
}

/** What a promise rejects with; undefined if it resolves. */
function failureOf(work: Promise<void>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** @throws Error if there is none left: a task without an outcome must not be passed over in silence */
function next(outcomes: Iterator<Outcome>): Outcome {
  const { done, value } = outcomes.next();
  if (done || value === undefined) throw new Error('Merging the outcomes failed: a task has none; this is a defect');
  return value;
}

/** What an attempt covers: the configured clusters, narrowed by what the event asks for. */
function tasksOf(request: RunRequest, history: RunHistory, { clusters, service }: Collection): ResourceRequest[] {
  const { completes, shard } = request;
  const chosen = request.clusters === undefined ? undefined : new Set(request.clusters);
  const isCovered = (uid: string) =>
    (chosen === undefined || chosen.has(uid)) &&
    (!completes || history.clusters.has(uid)) &&
    (shard === undefined || isInShard(uid, shard));
  return clusters
    .filter(({ uid }) => isCovered(uid))
    .flatMap(({ uid: cluster, projectUid = service.projectUid, requestId, resources = resourceNames, optional }) =>
      resources.map((resource) => ({
        cluster,
        resource,
        projectUid,
        requestId: request.requestId ?? requestId,
        ...(optional && { optional }),
      })),
    );
}
