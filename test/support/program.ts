import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

const root = join(__dirname, '..', '..');

export interface ProgramOptions {
  /** Of Node itself. */
  readonly nodeArguments?: readonly string[];
  /** Left out: that of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Where its output goes; left out: to {@link Program.stdout}. */
  readonly stdout?: 'pipe' | 'ignore' | number;
  /** Where its errors go; left out: they are kept. */
  readonly stderr?: 'pipe' | number;
  /** Whether it is the first of a group of processes of its own. */
  readonly isDetached?: boolean;
}

/** A program of this repository as a process of its own. What it says on standard error is kept, and told if it fails. */
export class Program {
  readonly child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  #said = '';

  /** @param file from the root of the repository; TypeScript is loaded by tsx, which takes half a second */
  constructor(file: string, args: readonly string[], options: ProgramOptions = {}) {
    const { nodeArguments = [], environment = process.env, stdout = 'pipe', stderr = 'pipe' } = options;
    const loader = file.endsWith('.ts') ? ['--import', 'tsx'] : [];
    const stdio: StdioOptions = ['ignore', stdout, stderr, 'ipc'];
    const command = [...nodeArguments, ...loader, file, ...args];
    this.child = spawn(process.execPath, command, { cwd: root, env: environment, stdio, detached: options.isDetached });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
    this.#ended = once(this.child, 'close');
  }

  get stdout(): Readable {
    return this.child.stdout as Readable;
  }

  /** The next message that it sends. @throws Error with what it said, if it ends before */
  async message<Message>(): Promise<Message> {
    const ended = this.#ended.then(([code, signal]) => {
      throw this.#failure(code ?? signal);
    });
    const [message] = (await Promise.race([once(this.child, 'message'), ended])) as unknown[];
    ended.catch(() => undefined);
    return message as Message;
  }

  /**
   * Waits for its end.
   * @returns what it said on standard error
   * @throws Error with that, if it does not end with this code
   */
  async end(expected = 0): Promise<string> {
    const [code, signal] = await this.#ended;
    if (code !== expected) throw this.#failure(code ?? signal);
    return this.#said;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#ended;
  }

  #failure(end: unknown): Error {
    return new Error(`${this.child.spawnargs.join(' ')} ended with ${end} and said:\n${this.#said}`);
  }
}

/** Starts the command line, as `npm run collector` does. */
export function startCollector(args: readonly string[], options: ProgramOptions = {}): Program {
  return new Program(join('cli', 'launch.cjs'), args, options);
}
