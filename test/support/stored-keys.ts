import { readdirSync } from 'node:fs';
import { join } from 'node:path';

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
    .filter((key) => !key.startsWith('.'))
    .sort();
}

const entriesOf = (folder: string) => readdirSync(folder, { recursive: true, withFileTypes: true });
