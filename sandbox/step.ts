import type { Aws } from './aws';
import type { Usage } from './prices';
import type { SandboxAccount } from './sandbox-account';
import type { Answer, CommandOptions, Shell } from './shell';

/** One sandbox: a stack under a random name, with all that is made for it. */
export interface Sandbox extends SandboxAccount {
  readonly name: string;
  readonly shell: Shell;
  readonly aws: Aws;
  /** The key of the demo service: random, and gone with it. */
  readonly apiKey: string;
  /** Says how far a step is. */
  readonly say: (line: string) => void;
}

export interface Step {
  readonly name: string;
  /** How long it may take in an account: an estimate, because nobody has run it. */
  readonly minutes: number;
  /** What it uses beside what stands by the hour. */
  readonly usage: Usage;
  /** Whether nothing that follows can be seen without it. */
  readonly isNeeded?: true;
  /**
   * Does it, and looks.
   * @returns what was seen
   * @throws CommandError
   */
  readonly work: (sandbox: Sandbox) => Promise<string>;
}

/** A command of this project. @param out what a dry run goes on with */
export function collector(
  { shell }: Sandbox,
  args: readonly string[],
  { out = '', ...options }: Partial<CommandOptions> & { readonly out?: string } = {},
): Promise<Answer> {
  const command = ['npm', 'run', '--silent', 'collector', '--', ...args];
  return shell.run(command, { example: { code: options.codes?.[0] ?? 0, out }, ...options });
}

/** The command line of CDK. */
export async function cdk(
  { shell }: Sandbox,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  await shell.run(['npx', 'cdk', ...args], { example: { code: 0, out: '' }, environment });
}
