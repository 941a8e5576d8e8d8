import type { AuditPlan } from '../stack-contract';
import { underWayMs } from '../time-limits';
import type { ArchiveReader } from '../verify/archive-reader';
import type { Expiry } from '../verify/expiry';
import type { Excusable } from '../verify/finding';
import type { JudgeContext } from '../verify/judge';
import type { Hashed } from '../verify/seals/seal';
import type { SealChain } from '../verify/seals/seal-chain';
import type { VerifyRunContext } from '../verify/verify-run';
import { stoppableListings } from './stoppable-reader';

/** Listings and objects read at once. */
export const concurrency = 16;

/** What the steps of one audit share. Its `now` is the time by S3's own clock when it began to list. */
export interface AuditWalk extends VerifyRunContext {
  readonly plan: AuditPlan;
  readonly chain: SealChain;
  /** Opens nothing more once the time is over: what is being read ends with the reason of `stop`. */
  readonly reader: ArchiveReader;
  /** Aborts when the audit's time is over. */
  readonly stop: AbortSignal;
  readonly expiry: Expiry;
  /** Whether the lifecycle may have removed what was written then. @param key of what is gone */
  readonly mayHaveRemoved: (writtenAt: Date, key?: string) => Promise<boolean>;
  /** Runs with a sealed record that is not there, with its key: known once all run records are listed. */
  readonly incomplete: Map<number, string>;
}

/** Makes a step as far as there is time for it. @returns undefined: the time was over before its end */
export async function inTime<Result>(
  { stop }: Pick<AuditWalk, 'stop'>,
  step: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await step();
  } catch (error) {
    if (!stop.aborted) throw error;
    return undefined;
  }
}

/** Finds what is not as it should be, unless the lifecycle explains it. @returns whether it is found */
export async function findUnlessExpired({ find, mayHaveRemoved }: AuditWalk, one: Excusable): Promise<boolean> {
  const { kind, key, problem, writtenAt } = one;
  if (await mayHaveRemoved(writtenAt, key)) return false;
  find(kind, key, problem);
  return true;
}

/** What a step wants of the objects that it judges. */
interface Wanted extends Pick<JudgeContext, 'isRead'>, Partial<Pick<JudgeContext, 'settled' | 'onObject'>> {}

/**
 * @returns what {@link judge} takes, and what has to be called once the judgement is whole: it finds what the lifecycle does
 * not explain, and gives the hashes of the objects that no run record names and no seal has
 */
export function judging(walk: AuditWalk, { isRead, onObject, ...wanted }: Wanted) {
  const excusable: Excusable[] = [];
  const unnamed = new Map<string, Hashed>();
  const { configurations, sealed, now, find, chain, stop } = walk;
  const context: JudgeContext = {
    ...{ configurations, sealed, now, find, concurrency, isRead },
    reader: stoppableListings(walk.reader, stop),
    settled: 'settled' in wanted ? wanted.settled : settled(now),
    unlessExpired: (one) => void excusable.push(one),
    onObject: (object) => {
      const { key, sha256, bytes, outcome } = object;
      if (outcome === undefined && sha256 !== undefined && !chain.objects.has(key))
        unnamed.set(key, { key, sha256, bytes });
      onObject?.(object);
    },
  };
  const settle = async (): Promise<Hashed[]> => {
    const hashed: Hashed[] = [];
    // What a run lacks that the schedule started was said when it was new.
    for (const one of excusable) {
      const object = unnamed.get(one.key);
      if (one.kind === 'absent' || !(await findUnlessExpired(walk, one))) continue;
      if (one.kind === 'unrecorded' && object !== undefined) hashed.push(object);
    }
    return hashed;
  };
  return { context, settle };
}

/** What was due or written up to this time, before another, does not change any more. */
export function settled(time: Date): Date {
  return new Date(time.getTime() - underWayMs);
}
