import type { Run } from '../../archive/read';
import type { AuditResult } from '../../lambda/audit/audit';
import { type LocalDeployment, MessageRefusedError } from '../../local/deployment/deploy-locally';
import type { AsynchronousResult } from '../../local/deployment/local-function';
import { ScheduleError } from '../../local/deployment/schedule';
import { main } from '../main';
import { formatTime, shellQuoted } from '../terminal/format';
import { printable } from '../terminal/printable';
import { exitCodes, print, type Terminal } from '../terminal/terminal';
import type { StartOptions } from './start-options';
import { tamperedCopy } from './tampered-copy';

/** When the archive is audited if the configuration does not say so: that there is an audit has an effect here, and that each reads all. */
export const defaultAudit = { schedule: 'cron(30 6 * * ? *)', rereadDays: 1 } as const;

/**
 * Fires the schedule of the audit, then verifies the archive, or a forged copy of it after the next audit of it, against the
 * key and the hash that a person keeps. Prints all this.
 * @param run that was started before; undefined if it has left no record
 * @param deployOver deploys the same stack over another folder
 * @returns whether the archive is sealed, and what was verified is what its seals say
 * @throws Error if there is nothing in the archive that can be forged
 */
export async function auditArchive(
  deployment: LocalDeployment,
  run: Run | undefined,
  { folder, tamper = false }: StartOptions,
  terminal: Terminal,
  deployOver: (folder: string) => Promise<LocalDeployment>,
): Promise<boolean> {
  const { out, colors } = terminal;
  await print(out, `\n${colors.bold('The schedule of the audit was fired')}\n`);
  const result = await fireAudit(deployment, terminal);
  const verified = tamper ? await auditTampered(folder, run, terminal, deployOver) : folder;
  const head = result === undefined ? [] : ['--head', result.sha256];
  const verify = ['verify', '--archive', verified, '--public-key', deployment.audit?.publicKeyFile ?? '', ...head];
  await print(out, `\n${colors.bold(`npm run collector -- ${verify.map(shellQuoted).join(' ')}`)}\n`);
  const code = await main(verify, { ...terminal, isWatched: false });
  if (tamper) await print(out, `The forged copy stays. To remove it: rm -r ${shellQuoted(verified)}\n`);
  return result !== undefined && code === exitCodes.ok;
}

/** Audits a forged copy of the archive. @returns its folder */
async function auditTampered(
  folder: string,
  run: Run | undefined,
  terminal: Terminal,
  deployOver: (folder: string) => Promise<LocalDeployment>,
): Promise<string> {
  const { out, colors } = terminal;
  const copy = await tamperedCopy(folder, run);
  const replaced = copy.replaced.map((key) => `  ${printable(key)}\n`).join('');
  await print(
    out,
    `\nIn a copy of the archive, ${copy.folder}, these were replaced together, so that they agree:\n${replaced}`,
  );
  await print(out, `${colors.bold('The next audit was fired, over this copy')}\n`);
  const deployment = await deployOver(copy.folder);
  try {
    await fireAudit(deployment, terminal);
  } finally {
    await deployment.close();
  }
  return copy.folder;
}

/**
 * Fires the schedule of the audit, and prints which seal it has stored and the mails that people get, or why it failed.
 * @returns undefined if it failed
 */
async function fireAudit(
  { audit, messages }: LocalDeployment,
  { out, colors }: Terminal,
): Promise<AuditResult | undefined> {
  if (audit === undefined) throw new Error('Auditing the archive failed: the stack has no audit.');
  const before = messages.length;
  const { attempts, failure } = await fire(audit, new Date());
  const result = attempts.at(-1)?.payload as AuditResult | undefined;
  if (result === undefined) {
    const why = printable(failure?.errorMessage ?? 'it was not started');
    await print(out, `${colors.red(`The audit failed: ${why}`)}\n`);
    return undefined;
  }
  const mails = messages.slice(before).filter(({ subject }) => subject !== undefined);
  const noMail = mails.length > 0 ? '' : ' No mail: people get one a day, and one after each audit that finds damage.';
  await print(out, `Seal ${result.number} of ${formatTime(result.seal)} is stored and signed.${noMail}\n`);
  for (const { subject, body } of mails) {
    const lines = [`Subject: ${subject}`, '', ...body.trimEnd().split('\n')];
    await print(out, `\n${lines.map((line) => `  ${printable(line)}`.trimEnd()).join('\n')}\n`);
  }
  return result;
}

/** Fires the schedule of the run, or of its audit. That it was not delivered is a result. */
export async function fire(schedule: Pick<LocalDeployment, 'fireSchedule'>, time: Date): Promise<AsynchronousResult> {
  try {
    return await schedule.fireSchedule(time);
  } catch (error) {
    if (!(error instanceof MessageRefusedError || error instanceof ScheduleError)) throw error;
    return { attempts: [], failure: { errorType: error.name, errorMessage: error.message } };
  }
}
