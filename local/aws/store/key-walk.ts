import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isShortened, metadataFolder } from './key-path';

interface Level {
  /** Keys below this folder begin with it. */
  readonly prefix: string;
  readonly path: string;
  readonly entries: readonly Entry[];
  next: number;
}

interface Entry {
  /** Whole key of a file; of a folder with a slash behind it, as its keys begin. */
  readonly key: string;
  readonly path: string;
  readonly isFolder: boolean;
}

export interface WalkOptions {
  readonly prefix: string;
  readonly startAfter?: string | undefined;
  /** Folder that holds the segment behind each shortened file name. */
  readonly names: string;
}

/** Goes through the keys of a folder in the order of their UTF-8 bytes, reading a folder only when a key may be in it. */
export class KeyWalk {
  private readonly levels: Level[] = [];
  private started = false;

  constructor(
    private readonly folder: string,
    private readonly options: WalkOptions,
  ) {}

  /** The next key with the path of its file; undefined at the end. */
  async next(): Promise<{ readonly key: string; readonly path: string } | undefined> {
    if (!this.started) {
      this.started = true;
      await this.descend('', this.folder);
    }
    for (;;) {
      const level = this.levels.at(-1);
      if (level === undefined) return undefined;
      const entry = level.entries[level.next++];
      if (entry === undefined) this.levels.pop();
      else if (!this.mayHold(entry)) continue;
      else if (entry.isFolder) await this.descend(entry.key, entry.path);
      else return entry;
    }
  }

  /** Leaves the folders all of whose keys begin with the prefix. */
  leave(prefix: string): void {
    while (this.levels.at(-1)?.prefix.startsWith(prefix)) this.levels.pop();
  }

  private mayHold({ key, isFolder }: Entry): boolean {
    const { prefix, startAfter } = this.options;
    if (!key.startsWith(prefix) && !(isFolder && prefix.startsWith(key))) return false;
    return startAfter === undefined || compareKeys(key, startAfter) > 0 || (isFolder && startAfter.startsWith(key));
  }

  private async descend(prefix: string, path: string): Promise<void> {
    const entries: Entry[] = [];
    for (const entry of await readFolder(path)) {
      if (prefix === '' && entry.name.startsWith(metadataFolder)) continue;
      const isFolder = entry.isDirectory();
      if (!isFolder && !entry.isFile()) continue;
      const segment = isShortened(entry.name) ? await this.segmentBehind(entry.name) : entry.name;
      if (segment === undefined) continue;
      entries.push({ key: `${prefix}${segment}${isFolder ? '/' : ''}`, path: join(path, entry.name), isFolder });
    }
    // The slash is part of a folder's place in the order: `a.b` comes before `a/b`.
    entries.sort((a, b) => compareKeys(a.key, b.key));
    this.levels.push({ prefix, path, entries, next: 0 });
  }

  private async segmentBehind(name: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.options.names, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

/** Order of keys: that of their bytes as UTF-8, which is not that of JavaScript's strings. */
export function compareKeys(a: string, b: string): number {
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
