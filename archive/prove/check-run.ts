import { clockSlackMs } from '../format/clocks';
import type { Excusable, Finding } from '../format/finding';
import { runPrefix, runRecordKey } from '../format/keys';
import { problems } from '../format/problems';
import { shardName } from '../format/shard';
import type { StoredRun } from '../read/read-run';
import type { ListedRun, RunRecordObject } from '../read/run-keys';
import { checkAttempts, checkRecord } from './check-record';
import { type ConfiguredRecord, judgeListSteps } from './list-steps';
import type { World } from './world';

/**
 * Judges what cannot be in the records of a run: in each, between them, and beside their configurations.
 * @returns findings; with `writtenAt` what it lacks, unless the lifecycle explains it
 * @throws ArchiveReadError if a configuration could be read another time
 */
export async function* checkRun(
  listed: ListedRun,
  run: StoredRun,
  { reader, configurations, sealed, now, isBucket }: World,
): AsyncGenerator<Finding | Excusable> {
  const allOfRun = `${runPrefix(run.run)}*`;
  const contradiction = (key: string, problem: string): Finding => ({ kind: 'contradiction', key, problem });
  if (run.run.getTime() > now.getTime() + clockSlackMs) yield contradiction(allOfRun, problems.inFuture);
  for (const bad of run.badRecords) if (bad.kind !== 'missing') yield bad;
  const records: ConfiguredRecord[] = [];
  for (const { record, wrongHeaders, ...object } of run.read) {
    if (record === undefined) continue;
    const configuration = await configurations.get(record.configuration);
    records.push({ ...object, record, configuration });
    if (wrongHeaders !== undefined) yield contradiction(object.key, wrongHeaders);
    for (const problem of checkRecord(record, configuration)) yield contradiction(object.key, problem);
    if (isBucket && Date.parse(record.finishedAt) > object.writtenAt.getTime() + clockSlackMs)
      yield contradiction(object.key, problems.finishedAfterWritten);
  }
  const steps = await judgeListSteps(records, { reader, configurations, sealed, isBucket });
  for (const { finding, excuse } of steps) if (excuse !== 'of its run') yield finding;
  const { contradictions, withoutOrigin } = checkAttempts(records.map(({ record }) => record));
  for (const problem of contradictions) yield contradiction(allOfRun, problem);

  const writtenAt = run.run;
  const missing = [...missingRecords(listed), ...run.badRecords.filter(({ kind }) => kind === 'missing')];
  for (const one of missing) yield { ...one, writtenAt };
  // The origin of a hash may be in a record that is not there.
  if (run.badRecords.length === 0 && missing.length === 0) {
    for (const problem of withoutOrigin) yield { ...contradiction(allOfRun, problem), writtenAt };
    for (const { finding, excuse } of steps) if (excuse === 'of its run') yield finding;
  }
}

/** Attempts of a run and shard are numbered from 1 without gaps; the records of a shard stand together. */
function* missingRecords({ run, records }: ListedRun): Generator<Finding> {
  let before: RunRecordObject | undefined;
  for (const record of records) {
    const { attempt, shard } = record;
    const next = before !== undefined && shardName(before.shard) === shardName(shard) ? before.attempt + 1 : 1;
    const problem = problems.missingAttempt(next, attempt - 1);
    if (attempt > next) yield { kind: 'missing', key: runRecordKey({ run, shard, attempt: next }), problem };
    before = record;
  }
}
