import type { AuditPlan } from '../stack-contract';
import type { ArchiveReader } from '../verify/archive-reader';
import type { Expiry } from '../verify/expiry';
import type { Excusable } from '../verify/finding';
import type { SealChain } from '../verify/seals/seal-chain';
import type { VerifyRunContext } from '../verify/verify-run';

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

/** Finds what is not there, unless the lifecycle may have removed it. @returns whether it is found */
export async function findLacking({ find, mayHaveRemoved }: AuditWalk, one: Excusable): Promise<boolean> {
  const { kind, key, problem, writtenAt } = one;
  if (await mayHaveRemoved(writtenAt, key)) return false;
  find(kind, key, problem);
  return true;
}
