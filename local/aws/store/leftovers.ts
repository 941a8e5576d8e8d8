import { lstat, readdir, rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';

/**
 * Removes from a folder what processes of this user left there that run no more.
 * @param prefix what the names begin with, before the number of the process and a hyphen
 */
export async function removeLeftovers(folder: string, prefix = ''): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = /^(\d+)-/.exec(name.startsWith(prefix) ? name.slice(prefix.length) : '') ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const path = join(folder, name);
    const entry = await lstat(path).catch(() => undefined);
    if (entry?.uid === userInfo().uid) await rm(path, { recursive: true, force: true });
  }
}

/** Whether a process runs, of this user or another. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
