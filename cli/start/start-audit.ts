import type { AuditResult } from '../../lambda/audit/audit';
import type { LocalDeployment } from '../../local/deployment/deploy-locally';
import { type DeliveredMessage, MessageRefusedError } from '../../local/deployment/local-messages';
import { ScheduleError } from '../../local/deployment/schedule';

/** When the archive is audited if the configuration does not say so: only that there is an audit has an effect here. */
export const defaultAudit = { schedule: 'cron(30 6 * * ? *)' } as const;

/** An audit of the locally deployed stack. */
export interface StartedAudit {
  /** What the function answered; undefined if the audit failed. */
  readonly result: AuditResult | undefined;
  /** Why it failed. */
  readonly error: string | undefined;
  /** What people got, oldest first. */
  readonly mails: readonly DeliveredMessage[];
  /** PEM. */
  readonly publicKeyFile: string;
}

/** Fires the schedule of the audit. An audit that fails is a result. */
export async function startAudit({ audit, messages }: LocalDeployment): Promise<StartedAudit> {
  if (audit === undefined) throw new Error('Auditing the archive failed: the stack has no audit.');
  const before = messages.length;
  const fired = await audit.fireSchedule(new Date()).catch((error: unknown) => {
    if (error instanceof MessageRefusedError || error instanceof ScheduleError) return error;
    throw error;
  });
  const last = fired instanceof Error ? undefined : fired.attempts.at(-1);
  return {
    result: last?.payload as AuditResult | undefined,
    error: fired instanceof Error ? fired.message : last?.error?.errorMessage,
    mails: messages.slice(before).filter(({ subject }) => subject !== undefined),
    publicKeyFile: audit.publicKeyFile,
  };
}
