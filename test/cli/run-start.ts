import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { firstResources } from '../../archive/format/resources';
import { startCommand } from '../../cli/start/start-command';
import { keptTerminal, type Surroundings } from './run-collector';

/** Runs `npm start` in this process and keeps what it writes. */
export async function runStart(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  surroundings: Surroundings = {},
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const terminal = keptTerminal({ now: new Date(), ...surroundings });
  const code = await startCommand(args, { terminal, environment, interrupted: new AbortController().signal });
  return { code, out: terminal.out.text, err: terminal.err.text };
}

/** Clusters of which the first two resources are collected, however many there are. */
export const ofFirstResources = (...uids: string[]) => uids.map((uid) => ({ uid, resources: firstResources }));

/** Writes a configuration of two clusters, of the demo service unless the members name another. @returns the file */
export async function writeStartConfig(folder: string, members: object = {}, name = 'my.json'): Promise<string> {
  const file = join(folder, name);
  const least = {
    name: 'mine',
    service: { baseUrl: 'https://clusters.example.com' },
    clusters: ofFirstResources('one', 'two'),
    schedule: { expression: 'cron(0 * * * ? *)' },
  };
  await writeFile(file, JSON.stringify({ ...least, ...members }));
  return file;
}
