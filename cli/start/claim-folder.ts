import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { incomingFolder } from '../../local/aws/store/key-path';
import { isRunning } from '../../local/aws/store/leftovers';
import { StartUsageError } from './start-options';

/**
 * Makes the folder of an archive and claims it for this process: the store lets one process at a time write to a folder.
 * @returns gives the folder up
 * @throws StartUsageError if the folder cannot be made or written, or another process works in it
 * @throws the file system's error if the disk is full
 */
export function claimFolder(folder: string): () => void {
  // Where the store receives bytes: nothing there is an object.
  const lock = join(folder, incomingFolder, 'lock');
  try {
    makeFolder(resolve(dirname(lock)));
    const owner = ownerOf(lock);
    if (owner !== undefined && isRunning(owner))
      throw new StartUsageError(
        `The process ${owner} works in the folder ${folder}: wait for its end, or name another with --folder. If it is something else, remove ${lock}.`,
      );
    writeFileSync(lock, `${process.pid}`);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (error instanceof StartUsageError || code === 'ENOSPC') throw error;
    throw new StartUsageError(`Writing to the folder ${folder} failed: ${code}; name another with --folder.`, {
      cause: error,
    });
  }
  return () => {
    if (existsSync(lock)) rmSync(lock);
  };
}

/** One folder after the other: where mkdir says ENOENT although the parent is there, as in /proc, Node's own never ends. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    const parent = dirname(folder);
    if (code !== 'ENOENT' || existsSync(parent)) throw error;
    makeFolder(parent);
    mkdirSync(folder);
  }
}

/** The other process that has claimed the folder, by its number. */
function ownerOf(lock: string): number | undefined {
  const owner = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : 0;
  return owner > 0 && owner !== process.pid ? owner : undefined;
}
