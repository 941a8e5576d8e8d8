import { DamagedObjectError } from '../../../archive/format/damaged-object-error';
import type { RunRecordName } from '../../../archive/format/keys';
import { type Counts, type RecordHead, RunRecordError } from '../../../archive/format/run-record';
import { shardName } from '../../../archive/format/shard';

/** What reads the records of a run. */
export interface ShardRecords {
  /** The names of all that exist, the newest attempt last. */
  readonly names: readonly RunRecordName[];
  /** @throws DamagedObjectError if it is not the record that its name says */
  readonly head: (name: RunRecordName) => Promise<RecordHead>;
}

/**
 * What a run of the schedule came to in all its shards. The records decide, and not who asks: what is told outside of the
 * account as complete has to be so.
 * @param shards how many the run has
 * @throws RunRecordError if no record of the schedule says that a shard is complete; what reading throws
 */
export async function countsOfShards(run: Date, shards: number, { names, head }: ShardRecords): Promise<Counts> {
  const complete = async (shard: string): Promise<RecordHead> => {
    for (const name of names.filter((one) => shardName(one.shard) === shard).toReversed()) {
      // Damaged, it counts as if it were not there.
      const found = await head(name).catch((error: unknown) => {
        if (!(error instanceof DamagedObjectError)) throw error;
      });
      if (found !== undefined && isCompleteOfSchedule(found)) return found;
    }
    throw new RunRecordError(
      `Adding up the shards of the run ${run.toISOString()} failed: no record of the schedule says that the shard ${shard} is complete`,
    );
  };
  const sum: Counts = { archived: 0, alreadyArchived: 0, failed: 0, notAttempted: 0 };
  for (let index = 0; index < shards; index += 1) {
    const { counts } = await complete(shardName({ index, count: shards }));
    for (const [name, value = 0] of Object.entries(counts) as [keyof Counts, number?][])
      sum[name] = (sum[name] ?? 0) + value;
  }
  return sum;
}

/** A record of a person may be of some clusters, and a refused list fails the run, whatever was collected. */
function isCompleteOfSchedule({ trigger, status, clusterList }: RecordHead): boolean {
  return trigger === 'schedule' && status === 'complete' && clusterList?.problem === undefined;
}
