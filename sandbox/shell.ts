import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { shellQuoted } from '../cli/terminal/format';
import { projectRoot } from '../infra/function-bundle';

export interface Answer {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error; left out: nothing. */
  readonly err?: string;
}

export interface CommandOptions {
  /** What a dry run goes on with: nothing is called there. */
  readonly example: Answer;
  /** Exit codes that are answers; left out: 0 alone. */
  readonly codes?: readonly number[];
  /** Added to this process's own. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Where the commands of the sandbox run. */
export interface Shell {
  /** @throws CommandError for any other exit code */
  run(command: readonly string[], options: CommandOptions): Promise<Answer>;
  wait(seconds: number): Promise<void>;
  /** Writes a file that a command reads. @returns its path */
  write(name: string, content: string): string;
}

const asTyped = (command: readonly string[]) => command.map(shellQuoted).join(' ');

/** A command ended with an exit code that is not an answer. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The error of a command whose answer nobody expected. */
export function unexpected(command: readonly string[], { code, out, err = '' }: Answer): CommandError {
  const why = `${err}\n${out}`.trim().slice(-2000);
  return new CommandError(`${asTyped(command)} ended with ${code}: ${why}`);
}

type Say = (line: string) => void;

/** Runs each command, after it has said it. */
export class RealShell implements Shell {
  /** @param folder where files for commands are written; made if it is absent */
  constructor(
    private readonly folder: string,
    private readonly say: Say,
  ) {}

  async run(command: readonly string[], { codes = [0], environment = {} }: CommandOptions): Promise<Answer> {
    this.say(`  $ ${asTyped(command)}`);
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      cwd: projectRoot,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    });
    const ended = new Promise<number>((resolve, reject) => {
      child.once('error', reject).once('close', (code) => resolve(code ?? -1));
    });
    const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    if (codes.includes(code)) return { code, out, err };
    throw unexpected(command, { code, out, err });
  }

  wait(seconds: number): Promise<void> {
    return wait(seconds * 1000);
  }

  write(name: string, content: string): string {
    mkdirSync(this.folder, { recursive: true });
    const path = join(this.folder, name);
    // One of them holds the key of the demo service.
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }
}

/** Says each command, calls nobody, and goes on with the examples. */
export class DryShell implements Shell {
  constructor(
    private readonly folder: string,
    private readonly say: Say,
  ) {}

  async run(command: readonly string[], { example }: CommandOptions): Promise<Answer> {
    this.say(`  $ ${asTyped(command)}`);
    return example;
  }

  async wait(): Promise<void> {}

  write(name: string, _content: string): string {
    this.say(`  (writes ${name})`);
    return join(this.folder, name);
  }
}
