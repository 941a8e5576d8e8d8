import type { AuditPlan } from '../stack-contract';
import { settled } from '../time-limits';
import type { ArchiveReader } from '../verify/archive-reader';
import { Expiry } from '../verify/expiry';
import type { Excusable, Find } from '../verify/finding';
import { type JudgedRun, judge } from '../verify/judge';
import type { JudgeContext, Stretch } from '../verify/judge-context';
import type { Hashed } from '../verify/seals/seal';
import type { SealChain } from '../verify/seals/seal-chain';
import { SealedArchive } from '../verify/seals/sealed-archive';
import { StoredConfigurations } from '../verify/stored-configurations';
import { stoppableReader } from './stoppable-reader';

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
  const sealed = new SealedArchive(chain, find, { now, plan });
  const configurations = new StoredConfigurations(archive, find, keptName);
  const expiry = new Expiry({ reader: archive, configurations, sealed, now, stop });

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
  async function findUnlessExpired({ kind, key, problem, writtenAt }: Excusable): Promise<boolean> {
    if (await expiry.mayHaveRemoved(writtenAt, key)) return false;
    find(kind, key, problem);
    return true;
  }

  /**
   * @returns what a judgement takes, and what has to be called once it is whole: it finds what the lifecycle does not explain,
   * counts what it explains, and gives the hashes of the objects that no run record names and no seal has
   */
  function judging({ isRead, onObject, ...wanted }: Wanted) {
    const excusable: Excusable[] = [];
    const unnamed = new Map<string, Hashed>();
    const context: JudgeContext = {
      ...{ configurations, sealed, now, find, concurrency, isRead, reader, isBucket: true },
      settled: 'settled' in wanted ? wanted.settled : settled(now),
      unlessExpired: (one) => void excusable.push(one),
      onObject: (object) => {
        const { key, sha256, bytes, outcome } = object;
        if (outcome === undefined && sha256 !== undefined && !chain.objects.has(key))
          unnamed.set(key, { key, sha256, bytes });
        onObject?.(object);
      },
    };
    const settle = async () => {
      const hashed: Hashed[] = [];
      let expired = 0;
      for (const one of excusable) {
        const object = unnamed.get(one.key);
        const isFound = await findUnlessExpired(one);
        if (isFound && one.kind === 'unrecorded' && object !== undefined) hashed.push(object);
        if (!isFound && one.kind === 'missing') expired += 1;
      }
      return { hashed, expired };
    };
    return { context, settle };
  }

  /** Judges a stretch. @throws ArchiveReadError, and the reason of the stop: then it was not judged whole */
  async function judgeStretch(stretch: Stretch, wanted: Wanted) {
    const { context, settle } = judging(wanted);
    let last: JudgedRun | undefined;
    for await (const run of judge(stretch, context)) last = run;
    return { last, ...(await settle()) };
  }

  return {
    ...{ archive, chain, now, find, sealed, configurations, expiry, inTime, findUnlessExpired },
    ...{ judging, judgeStretch, isOver: () => stop.aborted },
    /** Reads and lists nothing more once the time is over, and throws the reason. */
    reader,
  };
}
