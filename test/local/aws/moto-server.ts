import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';

/** Path of a command; undefined if it is not installed. */
export function findCommand(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

export interface MotoServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts moto at a free port, and waits until it listens.
 * @param environment added to this process's own
 */
export async function startMoto(command: string, environment: NodeJS.ProcessEnv = {}): Promise<MotoServer> {
  const child = spawn(command, ['-H', '127.0.0.1', '-p', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const url = await addressOf(child);
  return {
    url,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`moto_server ended with ${code}: ${said}`)));
    if (child.stderr === null) return reject(new Error('moto_server has no output'));
    // Read on to the end: a full pipe would stop the server.
    createInterface(child.stderr).on('line', (line) => {
      const url = /Running on (http:\/\/\S+)/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
      else if (said.length < 2000) said += `${line}\n`;
    });
  });
}
