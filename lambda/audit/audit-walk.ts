import type { AuditPlan } from '../stack-contract';
import type { ArchiveReader } from '../verify/archive-reader';
import type { Expiry } from '../verify/expiry';
import type { SealChain } from '../verify/seals/seal-chain';
import type { VerifyRunContext } from '../verify/verify-run';

/** What the steps of one audit share. Its `now` is the time by S3's own clock when it began to list. */
export interface AuditWalk extends VerifyRunContext {
  readonly plan: AuditPlan;
  readonly chain: SealChain;
  readonly reader: ArchiveReader;
  /** From then on nothing more is begun. */
  readonly stop: AbortSignal;
  readonly expiry: Expiry;
  /** Whether the lifecycle may have removed what was written then. @param key of what is gone */
  readonly mayHaveRemoved: (writtenAt: Date, key?: string) => Promise<boolean>;
}
