import { type ObjectName, parseObjectKey } from '../format/keys';
import { isStored, type RunOutcome } from '../format/run-record';
import { isInShard } from '../format/shard';
import type { StoredRun } from './read-run';
import type { RunRecordObject } from './run-keys';

/** What is archived under a key of an archive. */
export interface StoredOutcome extends RunOutcome {
  readonly key: string;
  /** What the key says. */
  readonly name: ObjectName;
}

/** What is archived under keys of an archive, to be held against the objects. */
export function* storedOutcomes(
  { outcomes }: Pick<StoredRun, 'outcomes'>,
  isWanted: (name: ObjectName) => boolean,
): Generator<StoredOutcome> {
  for (const outcome of outcomes) {
    const { key } = outcome;
    if (!isStored(outcome) || key === undefined) continue;
    const name = parseObjectKey(key);
    if (name !== undefined && isWanted(name)) yield Object.assign(outcome, { key, name });
  }
}

/** Keys of the run records that the outcome may be of: what was completed without shards has attempts of its own. */
export function recordsOf({ read }: Pick<StoredRun, 'read'>, { attempt, cluster }: StoredOutcome): string[] {
  const isOf = (record: RunRecordObject) => record.attempt === attempt && isInShard(cluster, record.shard);
  return read.filter(isOf).map(({ key }) => key);
}
