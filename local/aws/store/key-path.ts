import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Folder of what is known of the objects beside their bytes; no key may begin with its name. */
export const metadataFolder = '.metadata';

/** Longest key segment that becomes a file name as it is, in bytes; leaves room for `.json` within the usual 255. */
const longestName = 200;

/** The key cannot lie in a folder. */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}

/**
 * The segments of a key.
 * @throws InvalidKeyError for a key that would leave the folder, or that a file system cannot tell from another
 */
export function segmentsOf(key: string): string[] {
  const segments = key.split('/');
  for (const segment of segments) {
    if (segment === '' || segment === '.' || segment === '..')
      throw invalid(key, `its segment "${segment}" is no file name`);
    if (segment.includes('\\') || segment.includes('\0'))
      throw invalid(key, 'backslash and NUL are no part of a file name');
    if (/\p{Surrogate}/u.test(segment)) throw invalid(key, 'it is no valid text');
  }
  if (segments[0]?.startsWith(metadataFolder))
    throw invalid(key, `names that begin with ${metadataFolder} are reserved`);
  return segments;
}

/**
 * The file name of a segment, one to one. A segment too long for a file name keeps its beginning and ends in a hash of
 * the whole.
 */
export function fileNameOf(segment: string): string {
  if (!isShortened(segment) && Buffer.byteLength(segment) <= longestName) return segment;
  const hash = createHash('sha256').update(segment).digest('hex');
  // The cut may halve a character: harmless, because the hash tells the names apart.
  return `${Buffer.from(segment).subarray(0, 100).toString()}~${hash}`;
}

/** The segments behind shortened file names, each in a file of that name. */
export class ShortenedNames {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Writes down the segments that have a shortened name.
   * @param incoming folder for files that are not whole yet
   */
  async keep(segments: readonly string[], incoming: string): Promise<void> {
    for (const segment of segments) {
      const name = fileNameOf(segment);
      if (!isShortened(name)) continue;
      await mkdir(this.#folder, { recursive: true });
      const written = join(incoming, `${process.pid}-${randomUUID()}`);
      await writeFile(written, segment);
      await rename(written, join(this.#folder, name));
    }
  }

  /** The segment that a file name stands for; undefined if nobody wrote it down, or it was replaced. */
  async segmentOf(name: string): Promise<string | undefined> {
    if (!isShortened(name)) return name;
    try {
      const segment = await readFile(join(this.#folder, name), 'utf8');
      return fileNameOf(segment) === name ? segment : undefined;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

function isShortened(name: string): boolean {
  return /~[0-9a-f]{64}$/.test(name);
}

function invalid(key: string, reason: string): InvalidKeyError {
  return new InvalidKeyError(`Storing ${JSON.stringify(key)} in a folder failed: ${reason}; use another key`);
}
