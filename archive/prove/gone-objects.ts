import type { Finding, Gone } from '../format/finding';
import { type ObjectName, objectKey, parseRunRecordKey } from '../format/keys';
import { problems } from '../format/problems';
import type { RunOutcome } from '../format/run-record';
import { isInShard } from '../format/shard';
import type { ArchiveReader } from '../read/archive-reader';
import { StoredConfigurations } from '../read/stored-configurations';
import { Expiry } from './expiry';
import { readChain } from './seals/read-chain';
import type { SealChain } from './seals/seal-chain';
import { SealedArchive } from './seals/sealed-archive';
import { unlessExpired } from './world';

/** Judges what is not there, as `verify` does: objects that a run record names, and records. Seals are read for the first of them. */
export class GoneObjects {
  readonly #reader: ArchiveReader;
  readonly #now: Date;
  #judges: Promise<{ readonly sealed: SealedArchive; readonly expiry: Expiry }> | undefined;

  constructor(reader: ArchiveReader, now: Date) {
    this.#reader = reader;
    this.#now = now;
  }

  /** Whether the lifecycle may have removed the run record that named an object. @throws ArchiveReadError */
  async mayLackRecord(object: Gone): Promise<boolean> {
    this.#judges ??= this.#read();
    return (await this.#judges).expiry.mayHaveRemoved(object);
  }

  /**
   * @param records keys of the records of its run
   * @returns undefined: the lifecycle may have removed it
   * @throws ArchiveReadError
   */
  async judge(name: ObjectName, outcome: RunOutcome, records: readonly string[]): Promise<Finding | undefined> {
    const key = objectKey(name);
    this.#judges ??= this.#read();
    const { sealed, expiry } = await this.#judges;
    const own = records.filter((record) => {
      const { attempt, shard } = parseRunRecordKey(record) ?? {};
      return attempt === outcome.attempt && isInShard(outcome.cluster, shard);
    });
    const lost = sealed.lost(own, { ...outcome, key, name }, problems.gone);
    const judged = await unlessExpired({ expiry }, lost);
    return 'finding' in judged ? { ...judged.finding, ...sealed.saidOf(lost) } : undefined;
  }

  async #read() {
    const chain: SealChain = await readChain(this.#reader, {}, () => undefined);
    const configurations = new StoredConfigurations(this.#reader);
    const expiry = new Expiry({ reader: this.#reader, configurations, chain, now: this.#now });
    return { sealed: new SealedArchive(chain, {}), expiry };
  }
}
