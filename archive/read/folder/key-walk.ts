import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { incomingFolder, isOfFileManager, keyProblem, keysFolder, metadataFolder } from '../../format/folder-layout';
import { unlessAbsent } from './object-description';
import { irregular } from './regular-file';

export interface WalkOptions {
  readonly folder: string;
  readonly prefix: string;
  /** Only keys behind this one. */
  readonly startAfter?: string | undefined;
  /** Gets the paths of what a file manager left, which are no keys then. Left out: they are keys like any other. */
  readonly passOver?: (path: string) => void;
}

export interface FoundKey {
  /** Path of its file, beneath the folder; of a folder with a slash at its end. */
  readonly key: string;
  /** Why it is not read, or not looked into: it is not a regular file, or no key has its name. */
  readonly problem?: string | undefined;
  /** Whether keys are in it. No folder is found itself. */
  readonly isFolder: boolean;
}

const root: FoundKey = { key: '', isFolder: true };

/** No key lies in these folders at the root. */
const ownFolders: readonly string[] = [metadataFolder, incomingFolder, keysFolder];

/** The deepest folder that has all keys of a prefix: those above may have many others. */
function folderOf({ folder, prefix }: WalkOptions): FoundKey {
  const name = prefix.slice(0, Math.max(0, prefix.lastIndexOf('/')));
  if (keyProblem(name) !== undefined) return root;
  const real = unlessAbsent(() => realpathSync.native(join(folder, name)));
  // Behind a symbolic link: from the root, the link is found, and not followed.
  if (real === undefined || real !== join(realpathSync.native(folder), name)) return root;
  return { key: `${name}/`, isFolder: true };
}

/** Goes through keys in the order of their UTF-8 bytes. Reads a folder only if a wanted key may be in it. */
export function* walkKeys(options: WalkOptions, parent = folderOf(options)): Generator<FoundKey> {
  for (const entry of entriesOf(options, parent)) {
    if (entry.isFolder) yield* walkKeys(options, entry);
    else yield entry;
  }
}

/**
 * What lies directly below a prefix, each once: keys, and what the keys of a folder that has any begin with. What cannot be
 * an object is found by itself.
 */
export function* walkNames(options: WalkOptions, parent = folderOf(options)): Generator<FoundKey> {
  for (const entry of entriesOf(options, parent)) {
    if (!entry.isFolder) yield entry;
    else if (entry.key.length <= options.prefix.length) yield* walkNames(options, entry);
    else
      for (const found of walkKeys(options, entry)) {
        yield found.problem === undefined ? entry : found;
        if (found.problem === undefined) break;
      }
  }
}

function entriesOf(options: WalkOptions, parent: FoundKey): FoundKey[] {
  const entries: FoundKey[] = [];
  const files = unlessAbsent(() => readdirSync(`${options.folder}/${parent.key}`, { withFileTypes: true }));
  for (const file of files ?? []) {
    if (parent === root && ownFolders.includes(file.name) && !file.isFile()) continue;
    if (options.passOver !== undefined && isOfFileManager(file.name)) {
      options.passOver(`${parent.key}${file.name}`);
      continue;
    }
    const entry = entryOf(options, parent, file);
    if (mayHold(entry, options)) entries.push(entry);
  }
  return entries.sort((a, b) => compareKeys(a.key, b.key));
}

function entryOf({ folder }: WalkOptions, parent: FoundKey, file: Dirent): FoundKey {
  // The slash is part of a folder's place in the order: `a.b` comes before `a/b`. A link to a folder has that place too.
  const isFolder = file.isSymbolicLink() ? isLinkToFolder(join(folder, parent.key, file.name)) : file.isDirectory();
  const key = `${parent.key}${file.name}${isFolder ? '/' : ''}`;
  const unnamed = keyProblem(key.replace(/\/$/, ''));
  if (unnamed !== undefined) return { key, isFolder: false, problem: `no key has this name: ${unnamed}` };
  const problem = file.isFile() || file.isDirectory() ? undefined : irregular(file);
  return { key, isFolder: file.isDirectory(), problem };
}

function isLinkToFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // It leads nowhere, or in a circle.
    return false;
  }
}

function mayHold({ key, isFolder }: FoundKey, { prefix, startAfter }: WalkOptions): boolean {
  if (!key.startsWith(prefix) && !(isFolder && prefix.startsWith(key))) return false;
  return startAfter === undefined || compareKeys(key, startAfter) > 0 || (isFolder && startAfter.startsWith(key));
}

/** Order of keys: that of their bytes as UTF-8, which is that of JavaScript's strings but for what is behind U+D7FF. */
export function compareKeys(a: string, b: string): number {
  if (/[\ud800-\uffff]/.test(a) && /[\ud800-\uffff]/.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
