import { Writable } from 'node:stream';
import { main } from '../main';
import { formatTime, shellQuoted } from '../terminal/format';
import { printable } from '../terminal/printable';
import { exitCodes, print, type Terminal } from '../terminal/terminal';
import type { StartedAudit } from './start-audit';
import type { StartedRun } from './start-run';
import { type TamperedCopy, tamperedCopy } from './tampered-copy';

/** An audit, and what `collector verify` says after it. */
export interface CheckedAudit extends StartedAudit {
  /** Arguments of the command that verified. */
  readonly verify: readonly string[];
  readonly verified: { readonly code: number; readonly out: string };
  /** The archive that was verified, if it is a forged copy. */
  readonly tampered: TamperedCopy | undefined;
}

export interface CheckChoice {
  readonly folder: string;
  readonly tamper?: boolean;
  readonly json?: boolean;
}

/** There is nothing in the archive that can be forged. */
export class TamperError extends Error {
  override readonly name = 'TamperError';
}

/**
 * Verifies the archive after its audit, against the key and the hash that a person keeps, or a forged copy of it.
 * @throws TamperError
 */
export async function checkAudit(
  audit: StartedAudit,
  { records }: Pick<StartedRun, 'records'>,
  { folder, tamper = false, json = false }: CheckChoice,
  terminal: Terminal,
): Promise<CheckedAudit> {
  const tampered = tamper ? await tamperedCopy(folder, records) : undefined;
  if (tamper && tampered === undefined)
    throw new TamperError('Forging a copy of the archive failed: the run has archived no manifest.');
  const head = audit.result === undefined ? [] : ['--head', audit.result.sha256];
  const archive = tampered?.folder ?? folder;
  const verify = ['verify', '--archive', archive, '--public-key', audit.publicKeyFile, ...head];
  const kept: string[] = [];
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      kept.push(String(chunk));
      done();
    },
  });
  const code = await main([...verify, ...(json ? ['--json'] : [])], { ...terminal, out, isWatched: false });
  return { ...audit, verify, tampered, verified: { code, out: kept.join('') } };
}

/** Whether the archive is sealed, and is what its seals say. */
export function isSound({ result, verified }: CheckedAudit): boolean {
  return result !== undefined && verified.code === exitCodes.ok;
}

/** What the JSON document says of an audit. */
export function auditAsJson({ result, error, mails, publicKeyFile, verified, tampered }: CheckedAudit): object {
  return { result, error, mails, publicKeyFile, tampered, verified: JSON.parse(verified.out || 'null') };
}

/** Prints the mail of an audit, and what verifying says. */
export async function printAudit(terminal: Terminal, audit: CheckedAudit): Promise<void> {
  const { colors } = terminal;
  const { result, error, mails, tampered, verify, verified } = audit;
  const sealed = result && `Seal ${result.number} of ${formatTime(result.seal)} is stored and signed.`;
  const noMail =
    mails.length === 0 && result ? ' No mail: people get one a day, and one after each audit that finds damage.' : '';
  const lines = [
    '',
    colors.bold('The schedule of the audit was fired'),
    sealed === undefined
      ? colors.red(`The audit failed: ${printable(error ?? 'it was not started')}`)
      : `${sealed}${noMail}`,
    ...mails.flatMap(({ subject = '', body }) => [
      '',
      ...[`Subject: ${subject}`, '', ...body.trimEnd().split('\n')].map((line) => `  ${printable(line)}`.trimEnd()),
    ]),
    '',
    ...(tampered === undefined ? [] : tamperedLines(tampered)),
    colors.bold(`npm run collector -- ${verify.map(shellQuoted).join(' ')}`),
  ];
  await print(terminal.out, `${lines.join('\n')}\n${verified.out}`);
}

function tamperedLines({ folder, replaced }: TamperedCopy): string[] {
  return [
    `In a copy of the archive, ${folder}, these were replaced together, so that they agree:`,
    ...replaced.map((key) => `  ${printable(key)}`),
  ];
}
