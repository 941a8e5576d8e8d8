import { settled } from '../../archive/format/clocks';
import type { AuditPlan } from '../../archive/format/plan';
import { checkObject, Expiry, type SealChain, SealedArchive, type World } from '../../archive/prove/attest';
import { type ArchiveReader, StoredConfigurations } from '../../archive/read';
import { stoppableReader } from '../../archive/read/s3-archive-reader';

/** Listings and objects read at once. */
const concurrency = 16;

export interface AuditWorldOptions {
  readonly archive: ArchiveReader;
  readonly chain: SealChain;
  readonly plan: Pick<AuditPlan, 'retentionDays' | 'clusterList'>;
  /** The time by S3's own clock when the audit began to list. */
  readonly now: Date;
  /** Aborts when the audit's time is over. */
  readonly stop: AbortSignal;
  /** Gives the name of a cluster to be kept. */
  readonly keptName?: (cluster: string) => string;
}

/** What an audit judges by. Its reader reads and lists nothing more once the time is over, and throws the reason. */
export function auditWorld({ archive, chain, plan, now, stop, keptName }: AuditWorldOptions): World {
  const own = { number: chain.next.number, listedFrom: now.toISOString(), plan };
  const configurations = new StoredConfigurations(archive, keptName);
  return {
    ...{
      reader: stoppableReader(archive, stop),
      configurations,
      now,
      concurrency,
      check: checkObject,
      valid: new Map(),
    },
    ...{ isBucket: true, settled: settled(now), ...(keptName && { keptName }) },
    sealed: new SealedArchive(chain, { own }),
    expiry: new Expiry({ reader: archive, configurations, chain, own, now, stop }),
  };
}

/** Makes a step as far as there is time for it. @returns undefined: the time was over before its end */
export async function inTime<Result>(stop: AbortSignal, step: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await step();
  } catch (error) {
    if (!stop.aborted) throw error;
    return undefined;
  }
}
