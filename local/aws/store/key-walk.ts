import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { metadataFolder, type ShortenedNames } from './key-path';

export interface WalkOptions {
  readonly folder: string;
  readonly names: ShortenedNames;
  readonly prefix: string;
  /** Only keys behind this one. */
  readonly startAfter?: string | undefined;
}

/** A key, with the names of the folders and the file that it lies under. */
export interface FoundKey {
  readonly key: string;
  readonly names: readonly string[];
}

interface Entry extends FoundKey {
  /** Its `key` is then what its keys begin with, the slash included. */
  readonly isFolder: boolean;
}

const root: FoundKey = { key: '', names: [] };

/** Goes through keys in the order of their UTF-8 bytes. Reads a folder only if a wanted key may be in it. */
export async function* walkKeys(options: WalkOptions, parent = root): AsyncGenerator<FoundKey> {
  for (const entry of await entriesOf(options, parent)) {
    if (!mayHold(entry, options)) continue;
    if (entry.isFolder) yield* walkKeys(options, entry);
    else yield entry;
  }
}

function mayHold({ key, isFolder }: Entry, { prefix, startAfter }: WalkOptions): boolean {
  if (!key.startsWith(prefix) && !(isFolder && prefix.startsWith(key))) return false;
  return startAfter === undefined || compareKeys(key, startAfter) > 0 || (isFolder && startAfter.startsWith(key));
}

async function entriesOf({ folder, names }: WalkOptions, parent: FoundKey): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const entry of await readFolder(join(folder, ...parent.names))) {
    if (parent === root && entry.name.startsWith(metadataFolder)) continue;
    const isFolder = entry.isDirectory();
    if (!isFolder && !entry.isFile()) continue;
    const segment = await names.segmentOf(entry.name);
    if (segment === undefined) continue;
    // The slash is part of a folder's place in the order: `a.b` comes before `a/b`.
    const key = `${parent.key}${segment}${isFolder ? '/' : ''}`;
    entries.push({ key, names: [...parent.names, entry.name], isFolder });
  }
  return entries.sort((a, b) => compareKeys(a.key, b.key));
}

/** Order of keys: that of their bytes as UTF-8, which is not that of JavaScript's strings. */
function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

async function readFolder(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
