import { settled } from '../../archive/format/clocks';
import type { Find } from '../../archive/format/finding';
import type { AuditPlan } from '../../archive/format/plan';
import type { Hashed } from '../../archive/format/seal';
import {
  checkObject,
  Expiry,
  type Judged,
  type JudgedRun,
  judge,
  type SealChain,
  SealedArchive,
  type Slice,
  take,
  type World,
} from '../../archive/prove/attest';
import { type ArchiveReader, StoredConfigurations } from '../../archive/read';
import { stoppableReader } from '../../archive/read/s3-archive-reader';

/** Listings and objects read at once. */
export const concurrency = 16;

export interface AuditJudgeOptions {
  readonly archive: ArchiveReader;
  readonly chain: SealChain;
  readonly plan: Pick<AuditPlan, 'retentionDays' | 'clusterList'>;
  /** The time by S3's own clock when the audit began to list. */
  readonly now: Date;
  readonly find: Find;
  /** Aborts when the audit's time is over. */
  readonly stop: AbortSignal;
  /** Gives the name of a cluster to be kept. */
  readonly keptName?: (cluster: string) => string;
}

export type AuditJudge = ReturnType<typeof auditJudge>;

/** What judges the archive for one audit, beside its seals and its retention, as far as there is time. */
export function auditJudge({ archive, chain, plan, now, find, stop, keptName }: AuditJudgeOptions) {
  const reader = stoppableReader(archive, stop);
  const own = { number: chain.next.number, listedFrom: now.toISOString(), plan };
  const sealed = new SealedArchive(chain, { own });
  const configurations = new StoredConfigurations(archive, keptName);
  const expiry = new Expiry({ reader: archive, configurations, chain, own, now, stop });
  const world: World = {
    ...{ reader, configurations, sealed, expiry, now, concurrency, check: checkObject },
    ...{ isBucket: true, settled: settled(now), ...(keptName && { keptName }) },
  };
  /** What was judged so far has beside findings. */
  const beside = {
    /** Objects that no run record has a hash of, and no seal, by their keys: the next seal has it. */
    hashed: new Map<string, Hashed>(),
    /** How much is gone, and the lifecycle may have removed it. */
    expired: 0,
  };

  /** Makes a step as far as there is time for it. @returns undefined: the time was over before its end */
  async function inTime<Result>(step: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!stop.aborted) throw error;
      return undefined;
    }
  }

  /** Takes what every step takes of what is judged. */
  function observe(judged: Judged): void {
    if ('finding' in judged) find(judged.finding.kind, judged.finding.key, judged.finding.problem);
    else if ('expired' in judged) beside.expired += judged.expired.kind === 'missing' ? 1 : 0;
    else if ('object' in judged) {
      const { key, outcome, sha256, bytes, isUnrecorded, isVouched } = judged.object;
      // What only a record says that was replaced, nobody attests.
      const isWithoutHash = isVouched && outcome !== undefined && outcome.sha256 === undefined;
      if ((isUnrecorded || isWithoutHash) && sha256 !== undefined && !sealed.has(key))
        beside.hashed.set(key, { key, sha256, bytes });
    }
  }

  /**
   * Judges a slice.
   * @param onObject gets each object that was read
   * @returns its last run @throws ArchiveReadError, and the reason of the stop: then it was not judged whole
   */
  async function judgeSlice(
    slice: Slice,
    onObject: (bytes: number) => void = () => undefined,
  ): Promise<JudgedRun | undefined> {
    let last: JudgedRun | undefined;
    await take(judge(slice, world), (judged) => {
      // What is not there of what was due is told once, when its run is new.
      if (!('finding' in judged) || judged.finding.kind !== 'absent') observe(judged);
      if ('object' in judged) onObject(judged.object.bytes);
      else if ('run' in judged) last = judged.run;
    });
    return last;
  }

  return {
    ...{ archive, chain, now, find, sealed, configurations, expiry, beside, world, inTime, observe, judgeSlice },
    isOver: () => stop.aborted,
    /** Reads and lists nothing more once the time is over, and throws the reason. */
    reader,
  };
}
