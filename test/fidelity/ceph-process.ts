import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** In milliseconds. What is started to end does so within a second on a quiet machine. */
const timeout = 60_000;

/** A process of Ceph. It ends when this one ends, whatever ends this one. */
export class CephProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  /** Its newest lines. */
  #said: string[] = [];
  #onLine: (line: string) => void = () => undefined;

  private constructor(folder: string, command: string, args: readonly string[], limits: { timeout?: number }) {
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args], {
      ...limits,
      cwd: folder,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream === null) continue;
      // Read on to the end: a full pipe would stop it.
      createInterface({ input: stream }).on('line', (line) => {
        this.#said = [...this.#said.slice(-20), line];
        this.#onLine(line);
      });
    }
  }

  /** Runs a command to its end. @throws Error with what it said, if it fails or takes too long */
  static async run(folder: string, command: string, args: readonly string[]): Promise<void> {
    const process = new CephProcess(folder, command, args, { timeout });
    const [code, signal] = await process.#ended;
    if (code !== 0) throw process.#failure(code ?? signal);
  }

  /** Starts what goes on until it is killed. */
  static start(folder: string, command: string, args: readonly string[]): CephProcess {
    return new CephProcess(folder, command, ['-f', ...args], {});
  }

  /** Waits for a line. @throws Error with what it said, if it ends before */
  async says(pattern: RegExp): Promise<void> {
    const said = new Promise<undefined>((resolve) => {
      this.#onLine = (line) => {
        if (pattern.test(line)) resolve(undefined);
      };
    });
    const end = await Promise.race([said, this.#ended]);
    if (end !== undefined) throw this.#failure(end[0] ?? end[1]);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #failure(end: unknown): Error {
    return new Error(`${this.#child.spawnargs.join(' ')} ended with ${end} and said:\n${this.#said.join('\n')}`);
  }
}
