import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { RunRecord } from '../../archive/format/run-record';
import { FolderStore } from '../../local/aws/store/folder-store';
import { recordOf } from './record-text';

export interface StoredObject {
  readonly body: Buffer;
  /** User metadata, names without prefix. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** The keys of all objects in an archive's folder, sorted; none if the folder is not there. */
export function storedKeys(folder: string): string[] {
  let entries: ReturnType<typeof entriesOf>;
  try {
    entries = entriesOf(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((key) => !/^(?:\.|metadata\/)/.test(key))
    .sort();
}

const entriesOf = (folder: string) => readdirSync(folder, { recursive: true, withFileTypes: true });

/** All run records, in the order of their keys. */
export function storedRecords(folder: string): RunRecord[] {
  const keys = storedKeys(folder).filter((key) => key.startsWith('runs/'));
  return keys.map((key) => recordOf(readFileSync(join(folder, key))));
}

/** Every object that is visible now, by key, as it is stored. */
export async function storedObjects(folder: string): Promise<Map<string, StoredObject>> {
  const store = new FolderStore(folder);
  const objects = new Map<string, StoredObject>();
  for await (const { key } of store.list('')) {
    const found = await store.get(key);
    if (found !== undefined)
      objects.set(key, { body: await buffer(found.open()), metadata: found.metadata.userMetadata });
  }
  return objects;
}
