import { configurationsPrefix, parseConfigurationKey, runsPrefix, sealsPrefix } from '../archive/archive-layout';
import { resourceNames, resources } from '../resources';
import type { ArchiveReader } from './archive-reader';
import { type Find, noKeyOfAnArchive } from './finding';
import type { StoredConfigurations } from './stored-configurations';

/** What the archive itself puts at its root. */
const knownPrefixes = [
  ...resourceNames.map((name) => `${resources[name].folder}/`),
  runsPrefix,
  configurationsPrefix,
  sealsPrefix,
];

/**
 * Looks for objects outside the archive's own prefixes, and reads the configurations that no run of the archive names.
 * @param known keys that lie there all the same
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function verifyRest(
  reader: ArchiveReader,
  configurations: StoredConfigurations,
  find: Find,
  known: readonly string[] = [],
): Promise<void> {
  for await (const { key, damage } of reader.list(configurationsPrefix)) {
    const sha256 = parseConfigurationKey(key);
    if (sha256 === undefined) find('unrecorded', key, damage ?? noKeyOfAnArchive);
    else await configurations.get(sha256);
  }
  for await (const { name, damage } of topLevel(reader)) {
    if (known.includes(name) || knownPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    const key = name.endsWith('/') && damage === undefined ? `${name}*` : name;
    find('unrecorded', key, damage ?? 'it lies outside what the collector writes');
  }
}

/**
 * What lies at the root of an archive, each once: keys, and prefixes up to their first slash. It is found by starting the
 * listing anew behind each prefix. What can be no object has its own name.
 */
async function* topLevel(
  reader: ArchiveReader,
): AsyncGenerator<{ readonly name: string; readonly damage?: string | undefined }> {
  let prefix: string | undefined;
  for (let after: string | undefined, isDone = false; !isDone; ) {
    isDone = true;
    for await (const { key, damage } of reader.list('', after)) {
      // Names of the archive itself are plain; keys behind the tilde are passed by one by one.
      if (prefix !== undefined && key.startsWith(prefix)) continue;
      const slash = key.indexOf('/');
      if (slash < 0 || damage !== undefined) {
        yield { name: key, damage };
        continue;
      }
      prefix = key.slice(0, slash + 1);
      yield { name: prefix };
      after = `${prefix}~`;
      isDone = false;
      break;
    }
  }
}
