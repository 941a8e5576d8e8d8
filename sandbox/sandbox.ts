import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Aws } from './aws';
import { deploySteps } from './deploy-steps';
import { guardSteps } from './guard-steps';
import { refuseLeftovers, removeAll, sandboxesIn } from './removal';
import { reportOf } from './report';
import { runSteps } from './run-steps';
import {
  accountFile,
  exampleAccount,
  howToWrite,
  newName,
  readAccount,
  refuseOtherAccount,
  SandboxError,
} from './sandbox-account';
import type { Shell } from './shell';
import type { Sandbox, Step } from './step';
import { takeOverSteps } from './take-over-steps';
import { estimateOf, type Line, trySteps } from './try-steps';

/** What is tried, in this order. */
const trying: readonly Step[] = [...deploySteps, ...runSteps, ...guardSteps, ...takeOverSteps];

/** What follows, whatever was seen before. */
const removing: readonly Step[] = [
  { name: 'removal', minutes: 8, usage: { writes: 300 }, work: removeAll },
  { name: 'leftovers', minutes: 2, usage: {}, work: refuseLeftovers },
];

export interface Surroundings {
  /** The file that names the account. */
  readonly file: string;
  /** @param isDry whether nothing may be called */
  readonly shell: (isDry: boolean) => Shell;
  /** Who answers a step in the account's place; left out: the account does. */
  readonly placeOf?: (step: Step) => string | undefined;
  readonly say: (line: string) => void;
  readonly interrupted: AbortSignal;
  readonly commit: () => string;
  /** Keeps the report. */
  readonly keep: (report: string) => void;
}

export const help = `npm run sandbox -- [--dry-run] [--clean]

Tries the collector in an AWS account that holds nothing of value, and removes everything again. It refuses any account but the one
that ${accountFile} names, beside package.json: ${howToWrite}.
It needs AWS's command line, and once "npx cdk bootstrap", whose roles and files stay.

  --dry-run   prints every call, and makes none
  --clean     removes what earlier sandboxes left, and tries nothing

Exit codes: 0 everything was seen and is right, 1 something is wrong, was not seen, or is left, 2 refused.
`;

/** @returns the exit code @throws SandboxError if it is refused; CommandError if AWS does not say whose credentials these are */
export async function sandbox(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { 'dry-run': isDry, clean, help: isHelp } = optionsIn(args);
  const { say, file } = surroundings;
  if (isHelp) {
    say(help);
    return 0;
  }
  const named = readAccount(file);
  if (named === undefined && !isDry) throw new SandboxError(`${accountFile} is missing; ${howToWrite}`);
  const account = named ?? exampleAccount;
  const shell = surroundings.shell(isDry);
  const aws = new Aws(shell, account.region);
  if (isDry) say('A dry run: every call is printed, and nothing is called.');
  await refuseOtherAccount(aws, account);
  const names = clean ? await sandboxesIn(aws) : [newName()];
  if (clean) say(names.length === 0 ? 'No sandbox has left anything.' : `To be removed: ${names.join(', ')}`);
  const lines: Line[] = [];
  for (const name of names) {
    const apiKey = randomBytes(16).toString('hex');
    const one: Sandbox = { ...account, name, shell, aws, apiKey, say };
    const steps = clean ? removing : [...trying, ...removing];
    say(`${name}: ${estimateOf(steps)}`);
    const { interrupted, placeOf = () => `account, ${account.region}` } = surroundings;
    const options = { placeOf, isDry, now: () => performance.now(), interrupted };
    if (!clean) lines.push(...(await trySteps(one, trying, options)));
    // Who interrupts wants nothing to be left.
    lines.push(...(await trySteps(one, removing, { ...options, interrupted: new AbortController().signal })));
  }
  if (isDry) return 0;
  const report = reportOf(lines, { date: new Date(), region: account.region, commit: surroundings.commit() });
  if (!clean) surroundings.keep(report);
  say(report);
  return lines.every(({ verdict }) => verdict === 'right') ? 0 : 1;
}

/** @throws SandboxError */
function optionsIn(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ args: [...args], options: { 'dry-run': flag, clean: flag, help: flag } }).values;
  } catch (cause) {
    throw new SandboxError(`${(cause as Error).message}\n${help}`, { cause });
  }
}
