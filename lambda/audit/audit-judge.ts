import { settled } from '../../archive/format/clocks';
import type { Excusable, Find } from '../../archive/format/finding';
import type { AuditPlan } from '../../archive/format/plan';
import type { Hashed } from '../../archive/format/seal';
import {
  Expiry,
  type JudgeContext,
  type JudgedRun,
  judge,
  type SealChain,
  SealedArchive,
  type Stretch,
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

/** What a step wants of the objects that it judges. */
interface Wanted extends Pick<JudgeContext, 'isRead'>, Partial<Pick<JudgeContext, 'settled' | 'onObject'>> {}

export type AuditJudge = ReturnType<typeof auditJudge>;

/** What judges the archive for one audit, beside its seals and its retention, as far as there is time. */
export function auditJudge({ archive, chain, plan, now, find, stop, keptName }: AuditJudgeOptions) {
  const reader = stoppableReader(archive, stop);
  const own = { number: chain.next.number, listedFrom: now.toISOString(), plan };
  const sealed = new SealedArchive(chain, find, { own });
  const configurations = new StoredConfigurations(archive, find, keptName);
  const expiry = new Expiry({ reader: archive, configurations, chain, own, now, stop });
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

  /** Finds what is not as it should be, unless the lifecycle explains it. @returns whether it is found */
  async function findUnlessExpired(one: Excusable): Promise<boolean> {
    if (await expiry.mayHaveRemoved(one)) return false;
    find(one.kind, one.key, one.problem);
    return true;
  }

  /** What a judgement takes. */
  function judging({ isRead, onObject, ...wanted }: Wanted): JudgeContext {
    return {
      ...{ configurations, sealed, now, find, concurrency, isRead, reader, isBucket: true },
      settled: 'settled' in wanted ? wanted.settled : settled(now),
      findUnlessExpired: async (one) => {
        const isFound = await findUnlessExpired(one);
        if (!isFound && one.kind === 'missing') beside.expired += 1;
        return isFound;
      },
      onObject: (object) => {
        const { key, outcome, sha256, bytes, isUnrecorded, isVouched } = object;
        // What only a record says that was replaced, nobody attests.
        const isWithoutHash = isVouched && outcome !== undefined && outcome.sha256 === undefined;
        if ((isUnrecorded || isWithoutHash) && sha256 !== undefined && !chain.objects.has(key))
          beside.hashed.set(key, { key, sha256, bytes });
        onObject?.(object);
      },
    };
  }

  /** Judges a stretch. @returns its last run @throws ArchiveReadError, and the reason of the stop: then it was not judged whole */
  async function judgeStretch(stretch: Stretch, wanted: Wanted): Promise<JudgedRun | undefined> {
    let last: JudgedRun | undefined;
    for await (const run of judge(stretch, judging(wanted))) last = run;
    return last;
  }

  return {
    ...{ archive, chain, now, find, sealed, configurations, expiry, beside, inTime, findUnlessExpired },
    ...{ judging, judgeStretch, isOver: () => stop.aborted },
    /** Reads and lists nothing more once the time is over, and throws the reason. */
    reader,
  };
}
