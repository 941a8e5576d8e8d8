import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { AuditResult } from '../../lambda/audit/audit';
import type { Run } from '../../lambda/verify/read-run';
import type { DeliveredMessage } from '../../local/aws/call';
import { type LocalDeployment, MessageRefusedError } from '../../local/deployment/deploy-locally';
import type { FunctionError, InvocationResult } from '../../local/deployment/execution-environment';
import { ScheduleError } from '../../local/deployment/schedule';
import type { ExecutionResult } from '../../local/deployment/shards';
import { main } from '../main';
import { formatTime, shellQuoted } from '../terminal/format';
import { printable } from '../terminal/printable';
import { exitCodes, print, type Terminal } from '../terminal/terminal';
import type { StartOptions } from './start-options';
import { type TamperedCopy, tamperedCopy } from './tampered-copy';

/** When the archive is audited if the configuration does not say so: that there is an audit has an effect here, and that each reads all. */
export const defaultAudit = { schedule: 'cron(30 6 * * ? *)', rereadDays: 1 } as const;

/** What became of a firing of the audit. */
interface FiredAudit {
  /** What the function answered; undefined if the audit failed. */
  readonly result: AuditResult | undefined;
  /** Why it failed. */
  readonly error: string | undefined;
  /** What people got, oldest first. */
  readonly mails: readonly DeliveredMessage[];
}

/** An audit of the locally deployed stack, and what `collector verify` says after it. */
export interface StartedAudit extends FiredAudit {
  /** PEM. */
  readonly publicKeyFile: string;
  /** Arguments of the command that verified. */
  readonly verify: readonly string[];
  readonly verified: { readonly code: number; readonly out: string };
  /** The archive that was verified, if it is a forged copy, with the next audit, which is of this copy. */
  readonly tampered: (TamperedCopy & { readonly next: FiredAudit }) | undefined;
}

/**
 * Fires the schedule of the audit; one that fails is a result. Then verifies the archive, or a forged copy of it after the
 * next audit of it, against the key and the hash that a person keeps.
 * @param run that was started before; undefined if it has left no record
 * @param deployOver deploys the same stack over another folder
 * @throws Error if there is nothing in the archive that can be forged
 */
export async function auditArchive(
  deployment: LocalDeployment,
  run: Run | undefined,
  { folder, tamper = false }: StartOptions,
  terminal: Terminal,
  deployOver: (folder: string) => Promise<LocalDeployment>,
): Promise<StartedAudit> {
  const fired = await fireAudit(deployment);
  const { publicKeyFile = '' } = deployment.audit ?? {};
  const tampered = tamper ? await auditTampered(folder, run, deployOver) : undefined;
  const head = fired.result === undefined ? [] : ['--head', fired.result.sha256];
  const verify = ['verify', '--archive', tampered?.folder ?? folder, '--public-key', publicKeyFile, ...head];
  const out = new PassThrough();
  const said = text(out);
  const code = await main(verify, { ...terminal, out, isWatched: false });
  out.end();
  const verified = { code, out: await said };
  return { ...fired, publicKeyFile, verify, verified, tampered };
}

async function auditTampered(
  folder: string,
  run: Run | undefined,
  deployOver: (folder: string) => Promise<LocalDeployment>,
): Promise<StartedAudit['tampered']> {
  const copy = await tamperedCopy(folder, run);
  const deployment = await deployOver(copy.folder);
  try {
    return { ...copy, next: await fireAudit(deployment) };
  } finally {
    await deployment.close();
  }
}

async function fireAudit({ audit, messages }: LocalDeployment): Promise<FiredAudit> {
  if (audit === undefined) throw new Error('Auditing the archive failed: the stack has no audit.');
  const before = messages.length;
  const { attempts, failure } = await fire(audit, new Date());
  const result = attempts.at(-1)?.payload as AuditResult | undefined;
  const mails = messages.slice(before).filter(({ subject }) => subject !== undefined);
  return { result, error: failure?.errorMessage, mails };
}

/** Whether the archive is sealed, and is what its seals say. */
export function isSound({ result, verified }: StartedAudit): boolean {
  return result !== undefined && verified.code === exitCodes.ok;
}

/** Prints the mails of the audits, and what verifying says. */
export async function printAudit(terminal: Terminal, audit: StartedAudit): Promise<void> {
  const { colors } = terminal;
  const { tampered, verify, verified } = audit;
  const lines = ['', colors.bold('The schedule of the audit was fired'), ...linesOf(terminal, audit), ''];
  if (tampered !== undefined)
    lines.push(
      `In a copy of the archive, ${tampered.folder}, these were replaced together, so that they agree:`,
      ...tampered.replaced.map((key) => `  ${printable(key)}`),
      colors.bold('The next audit was fired, over this copy'),
      ...linesOf(terminal, tampered.next),
      '',
    );
  lines.push(colors.bold(`npm run collector -- ${verify.map(shellQuoted).join(' ')}`));
  await print(terminal.out, `${lines.join('\n')}\n${verified.out}`);
}

function linesOf({ colors }: Terminal, { result, error, mails }: FiredAudit): string[] {
  if (result === undefined) return [colors.red(`The audit failed: ${printable(error ?? 'it was not started')}`)];
  const noMail = mails.length > 0 ? '' : ' No mail: people get one a day, and one after each audit that finds damage.';
  return [
    `Seal ${result.number} of ${formatTime(result.seal)} is stored and signed.${noMail}`,
    ...mails.flatMap(({ subject = '', body }) => [
      '',
      ...[`Subject: ${subject}`, '', ...body.trimEnd().split('\n')].map((line) => `  ${printable(line)}`.trimEnd()),
    ]),
  ];
}

/** What became of a firing: what the execution, the function or the schedule failed with. */
export interface Fired {
  readonly attempts: readonly InvocationResult[];
  readonly failure: FunctionError | undefined;
}

/** Fires the schedule of the run, or of its audit. That it was not delivered is a result. */
export async function fire(
  schedule: { fireSchedule(time: Date): Promise<ExecutionResult> },
  time: Date,
): Promise<Fired> {
  try {
    const { attempts, failure = attempts.at(-1)?.error } = await schedule.fireSchedule(time);
    return { attempts, failure };
  } catch (error) {
    if (!(error instanceof MessageRefusedError || error instanceof ScheduleError)) throw error;
    return { attempts: [], failure: { errorType: error.name, errorMessage: error.message } };
  }
}
