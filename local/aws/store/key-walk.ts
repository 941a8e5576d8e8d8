import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { keyOf, metadataFolder } from './key-path';

export interface WalkOptions {
  readonly folder: string;
  readonly prefix: string;
  /** Only keys behind this one. */
  readonly startAfter?: string | undefined;
}

export interface FoundKey {
  readonly key: string;
  /** Path of its file, beneath the folder. */
  readonly path: string;
}

interface Entry extends FoundKey {
  /** Its `path` ends with a slash then, and its `key` is what the keys in it begin with. */
  readonly isFolder: boolean;
}

const root: FoundKey = { key: '', path: '' };

/** Goes through keys in the order of their UTF-8 bytes. Reads a folder only if a wanted key may be in it. */
export async function* walkKeys(options: WalkOptions, parent = root): AsyncGenerator<FoundKey> {
  for (const entry of await entriesOf(options, parent)) {
    if (entry.isFolder) yield* walkKeys(options, entry);
    else yield entry;
  }
}

async function entriesOf(options: WalkOptions, parent: FoundKey): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const file of await readFolder(join(options.folder, parent.path))) {
    if (parent === root && file.name.startsWith(metadataFolder)) continue;
    const isFolder = file.isDirectory();
    if (!isFolder && !file.isFile()) continue;
    // The slash is part of a folder's place in the order: `a.b` comes before `a/b`.
    const path = `${parent.path}${file.name}${isFolder ? '/' : ''}`;
    const entry = { key: keyOf(path), path, isFolder };
    if (!mayHold(entry, options)) continue;
    // What goes on in a folder has its place among the others here.
    if (isFolder && !entry.key.endsWith('/')) entries.push(...(await entriesOf(options, entry)));
    else entries.push(entry);
  }
  return entries.sort((a, b) => compareKeys(a.key, b.key));
}

function mayHold({ key, isFolder }: Entry, { prefix, startAfter }: WalkOptions): boolean {
  if (!key.startsWith(prefix) && !(isFolder && prefix.startsWith(key))) return false;
  return startAfter === undefined || compareKeys(key, startAfter) > 0 || (isFolder && startAfter.startsWith(key));
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
