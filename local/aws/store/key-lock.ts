import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What a lock protects takes milliseconds: one that is older than this was left behind. In milliseconds. */
const stalenessMs = 10_000;

/** Another process is storing an object under the same key at this moment; asking again helps. */
export class KeyConflictError extends Error {
  override readonly name = 'KeyConflictError';
}

const queues = new Map<string, Promise<unknown>>();

/**
 * Runs a task while no other holds the lock file. Tasks of this process wait in turn; a lock that another process holds
 * is a conflict. A process that was killed leaves its lock behind, and the next one takes it over.
 * @throws KeyConflictError
 */
export function withKeyLock<T>(lockFile: string, task: () => Promise<T>): Promise<T> {
  const before = queues.get(lockFile) ?? Promise.resolve();
  const run = async (): Promise<T> => {
    await acquire(lockFile);
    try {
      return await task();
    } finally {
      await rm(lockFile, { force: true });
    }
  };
  // The task before may have failed: its caller has the error.
  const result = before.then(run, run);
  queues.set(lockFile, result);
  const forget = (): void => {
    if (queues.get(lockFile) === result) queues.delete(lockFile);
  };
  void result.then(forget, forget);
  return result;
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

async function acquire(lockFile: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await create(lockFile);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (attempt < 3 && code === 'ENOENT') await mkdir(dirname(lockFile), { recursive: true });
      else if (attempt < 3 && code === 'EEXIST' && (await isStale(lockFile))) await rm(lockFile, { force: true });
      else if (code === 'EEXIST')
        throw new KeyConflictError('Storing the object failed: another process stores it now; try again', {
          cause: error,
        });
      else throw error;
    }
  }
}

/** Makes the lock with its holder's number in it in one step: between two steps, a killed process would leave a lock of nobody. */
async function create(lockFile: string): Promise<void> {
  // A killed process leaves this file: it is named as a half received body, and is cleared away with those.
  const named = join(dirname(lockFile), `${process.pid}-${randomUUID()}`);
  await writeFile(named, String(process.pid));
  try {
    await link(named, lockFile);
  } finally {
    await rm(named, { force: true });
  }
}

async function isStale(lockFile: string): Promise<boolean> {
  try {
    const [holder, { mtimeMs }] = await Promise.all([readFile(lockFile, 'utf8'), stat(lockFile)]);
    const pid = Number(holder);
    // Tasks of this process wait in turn: a lock with its number is of an earlier process that had the same number.
    return Date.now() - mtimeMs > stalenessMs || (pid > 0 && (pid === process.pid || !isRunning(pid)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}
