import { clockSlackMs } from '../format/clocks';
import type { Excusable } from '../format/finding';
import { runPrefix, runRecordKey, shardName } from '../format/keys';
import { problems } from '../format/problems';
import type { StoredRun } from '../read/read-run';
import type { ListedRun, RunRecordObject } from '../read/run-keys';
import { checkAttempts, checkRecord } from './check-record';
import type { JudgeContext } from './judge-context';
import { type ConfiguredRecord, judgeListSteps } from './list-steps';

/**
 * Finds what cannot be in the records of a run: in each, between them, and beside their configurations.
 * @returns what it lacks, unless the lifecycle explains it
 * @throws ArchiveReadError if a configuration could be read another time
 */
export async function checkRun(
  listed: ListedRun,
  run: StoredRun,
  { reader, configurations, sealed, now, isBucket, find }: JudgeContext,
): Promise<readonly Excusable[]> {
  const allOfRun = `${runPrefix(run.run)}*`;
  if (run.run.getTime() > now.getTime() + clockSlackMs) find('contradiction', allOfRun, problems.inFuture);
  for (const { key, problem, kind } of run.badRecords) if (kind !== 'missing') find(kind, key, problem);
  const records: ConfiguredRecord[] = [];
  for (const { record, wrongHeaders, ...object } of run.read) {
    if (record === undefined) continue;
    const configuration = await configurations.get(record.configuration);
    records.push({ ...object, record, configuration });
    if (wrongHeaders !== undefined) find('contradiction', object.key, wrongHeaders);
    for (const problem of checkRecord(record, configuration)) find('contradiction', object.key, problem);
    if (isBucket && Date.parse(record.finishedAt) > object.writtenAt.getTime() + clockSlackMs)
      find('contradiction', object.key, problems.finishedAfterWritten);
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
  return lacking;
}

/** Attempts of a run and shard are numbered from 1 without gaps; the records of a shard stand together. */
function* missingRecords({ run, records }: ListedRun): Generator<{ readonly key: string; readonly problem: string }> {
  let before: RunRecordObject | undefined;
  for (const record of records) {
    const { attempt, shard } = record;
    const next = before !== undefined && shardName(before.shard) === shardName(shard) ? before.attempt + 1 : 1;
    const problem = problems.missingAttempt(next, attempt - 1);
    if (attempt > next) yield { key: runRecordKey({ run, shard, attempt: next }), problem };
    before = record;
  }
}
