import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { Aws } from './aws';

/** The sandbox cannot begin, or may not. The message says what to do. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** The only account in which anything is made or removed. */
export interface SandboxAccount {
  readonly account: string;
  readonly region: string;
}

/** The file that names it, beside package.json; git ignores it. */
export const accountFile = 'sandbox.json';

/** What a dry run prints where there is no such file. */
export const exampleAccount: SandboxAccount = { account: '111122223333', region: 'eu-central-1' };

const accountSchema = z.strictObject({
  account: z.string().regex(/^\d{12}$/, 'expected twelve digits'),
  region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'expected a region such as eu-central-1'),
});

/**
 * The account that may be used. It stands in a file, and in no option or variable: a wrong profile must not be enough.
 * @returns undefined: there is no such file
 * @throws SandboxError
 */
export function readAccount(path: string): SandboxAccount | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new SandboxError(`Reading ${path} failed: it is not JSON; ${howToWrite}`, { cause });
  }
  const { data, error } = accountSchema.safeParse(json);
  if (error === undefined) return data;
  const problems = error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`.trim());
  throw new SandboxError(`Reading ${path} failed: ${problems.join('; ')}; ${howToWrite}`);
}

/** What to do where there is no file. */
export const howToWrite = `write into it the account that holds nothing of value, such as ${JSON.stringify(exampleAccount)}`;

const identitySchema = z.looseObject({ Account: z.string(), Arn: z.string() });

/** @throws SandboxError if the credentials are of another account than the one that the file names */
export async function refuseOtherAccount(aws: Aws, { account, region }: SandboxAccount): Promise<void> {
  const example = { Account: account, Arn: `arn:aws:iam::${account}:role/administrator` };
  const { Account, Arn } = await aws.ask(['sts', 'get-caller-identity'], identitySchema, example);
  if (Account !== account)
    throw new SandboxError(
      `Using the account ${Account} was refused: the credentials are of ${Arn}, and ${accountFile} names ${account} in ${region}; choose the profile of that account`,
    );
}

/** What everything of one sandbox is tagged with, and the beginning of all its names. */
export const sandboxTag = 'cluster-log-collector-sandbox';

export const newName = (): string => `sandbox-${randomBytes(3).toString('hex')}`;

/** Whether a name was made here: nothing that has another name is changed or removed. */
export const isOwnName = (name: string): boolean => /^sandbox-[0-9a-f]{6}$/.test(name);
