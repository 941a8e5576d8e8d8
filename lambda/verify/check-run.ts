import { runPrefix, runRecordKey, type Shard, shardName } from '../archive/archive-layout';
import { isStored, type RunOutcome, type StoredRecord, taskName } from '../run/run-record';
import { asynchronousAttempts, clockSlackMs, shardsUnderWayMs, underWayMs } from '../time-limits';
import { checkAttempts, checkRecord, TaskList, tasksOf } from './check-record';
import type { Excusable } from './finding';
import type { JudgeContext } from './judge-context';
import { judgeListSteps } from './list-steps';
import type { StoredRun } from './read-run';
import type { ListedRun, RunRecordObject } from './run-keys';
import type { RunConfiguration } from './stored-configurations';

interface ConfiguredRecord extends RunRecordObject {
  readonly record: StoredRecord;
  readonly configuration: RunConfiguration | undefined;
}

/**
 * Finds what cannot be in the records of a run: in each, between them, and beside their configurations.
 * @returns what it lacks, unless the lifecycle explains it
 * @throws ArchiveReadError if a configuration could be read another time
 */
export async function checkRun(
  listed: ListedRun,
  run: StoredRun,
  isScheduled: boolean,
  { reader, configurations, sealed, now, isBucket, find }: JudgeContext,
): Promise<readonly Excusable[]> {
  const allOfRun = `${runPrefix(run.run)}*`;
  if (run.run.getTime() > now.getTime() + clockSlackMs)
    find('contradiction', allOfRun, 'its time is in the future, and nothing can have been archived then');
  for (const { key, problem, kind } of run.badRecords) if (kind !== 'missing') find(kind, key, problem);
  const records: ConfiguredRecord[] = [];
  for (const { record, wrongHeaders, ...object } of run.read) {
    if (record === undefined) continue;
    const configuration = await configurations.get(record.configuration);
    records.push({ ...object, record, configuration });
    if (wrongHeaders !== undefined) find('contradiction', object.key, wrongHeaders);
    for (const problem of checkRecord(record, configuration)) find('contradiction', object.key, problem);
    if (isBucket && Date.parse(record.finishedAt) > object.writtenAt.getTime() + clockSlackMs)
      find('contradiction', object.key, 'it says that it finished later than it was written');
  }
  for (const { key, problem } of await judgeListSteps(reader, records, { configurations, sealed }))
    find('contradiction', key, problem);
  const { contradictions, withoutOrigin } = checkAttempts(records.map(({ record }) => record));
  for (const problem of contradictions) find('contradiction', allOfRun, problem);

  const lacking: Excusable[] = [];
  const lack = (kind: Excusable['kind'], key: string, problem: string) =>
    lacking.push({ kind, key, problem, writtenAt: run.run });
  for (const { key, problem } of missingRecords(listed)) lack('missing', key, problem);
  for (const { key, problem, kind } of run.badRecords) if (kind === 'missing') lack(kind, key, problem);
  // The origin of a hash may be in a record that is not there.
  if (run.badRecords.length === 0 && lacking.length === 0)
    for (const problem of withoutOrigin) lack('contradiction', allOfRun, problem);
  const scheduled = isScheduled ? records.filter(({ record }) => record.trigger === 'schedule') : [];
  if (run.status !== 'complete' && run.badRecords.every(({ kind }) => kind !== 'unreadable'))
    for (const problem of absences(scheduled, run.outcomes, now)) lack('absent', allOfRun, problem);
  return lacking;
}

/** Attempts of a run and shard are numbered from 1 without gaps. */
function* missingRecords({ run, records }: ListedRun): Generator<{ readonly key: string; readonly problem: string }> {
  for (const own of byShard(records).values()) {
    let next = 1;
    for (const { attempt, shard } of own) {
      const others = attempt - next > 1 ? ` and those up to attempt ${attempt - 1}` : '';
      const problem = `the run has records of later attempts, but not this one${others}`;
      if (attempt > next) yield { key: runRecordKey({ run, shard, attempt: next }), problem };
      next = attempt + 1;
    }
  }
}

/**
 * What should have become of an incomplete run of the schedule, and did not: as many attempts as are made of an event, and
 * records of all shards. That is not damage: an attempt that is killed leaves no record.
 */
function absences(scheduled: readonly ConfiguredRecord[], outcomes: Iterable<RunOutcome>, now: Date): string[] {
  const problems: string[] = [];
  const listed = new Set<string>();
  const missing = new Set<string>();
  for (const outcome of outcomes) {
    listed.add(taskName(outcome));
    if (!isStored(outcome) && !outcome.optional) missing.add(taskName(outcome));
  }
  for (const [part, own] of byShard(scheduled)) {
    const last = own.at(-1);
    if (last === undefined || last.attempt >= asynchronousAttempts) continue;
    if (last.record.status === 'complete' || isYoung(last.writtenAt, now, underWayMs)) continue;
    // What was missing may have been completed without shards.
    if (!hasAny(last.record, missing)) continue;
    const which = part === '' ? 'it' : `shard ${part}`;
    problems.push(
      `${which} is incomplete after ${last.attempt} of ${asynchronousAttempts} attempts; the others left no record`,
    );
  }
  const [first] = scheduled;
  if (first?.record.shard === undefined || isYoung(first.run, now, shardsUnderWayMs)) return problems;
  const lacking = new TaskList();
  // While the run's shards are at work, another configuration may be deployed.
  const [one = new Map(), ...others] = new Set(scheduled.flatMap(({ configuration }) => configuration?.clusters ?? []));
  for (const task of tasksOf(one))
    if (!listed.has(taskName(task)) && others.every((clusters) => clusters.get(task.cluster)?.[task.resource]))
      lacking.add(task);
  return [...problems, ...lacking.describe('shards without a record leave no outcome of what is configured')];
}

function hasAny({ outcomes }: StoredRecord, names: ReadonlySet<string>): boolean {
  for (const outcome of outcomes) if (names.has(taskName(outcome))) return true;
  return false;
}

function isYoung(time: Date, now: Date, limitMs: number): boolean {
  return now.getTime() - time.getTime() < limitMs;
}

/** By the name of their shard. */
function byShard<Item extends { readonly shard?: Shard | undefined }>(items: readonly Item[]): Map<string, Item[]> {
  const parts = new Map<string, Item[]>();
  for (const item of items) {
    const part = shardName(item.shard);
    const own = parts.get(part);
    if (own === undefined) parts.set(part, [item]);
    else own.push(item);
  }
  return parts;
}
