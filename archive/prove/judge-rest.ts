import { type Finding, strayFinding } from '../format/finding';
import { configurationsPrefix, parseConfigurationKey, runsPrefix, sealsPrefix } from '../format/keys';
import { problems } from '../format/problems';
import { resourceNames, resources } from '../format/resources';
import type { ArchiveReader } from '../read/archive-reader';
import type { StoredConfigurations } from '../read/stored-configurations';

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
export async function* judgeRest(
  reader: ArchiveReader,
  configurations: StoredConfigurations,
  known: readonly string[] = [],
): AsyncGenerator<Finding> {
  for await (const object of reader.list(configurationsPrefix)) {
    const sha256 = parseConfigurationKey(object.key);
    if (sha256 === undefined) yield strayFinding(object);
    else await configurations.get(sha256);
  }
  const others = new Map<string, string | undefined>();
  for await (const { name, damage } of reader.listNames('')) {
    if (known.includes(name) || knownPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    others.set(name.replace(/\/.*/s, '/*'), damage);
  }
  for (const [key, damage] of others) yield { kind: 'unrecorded', key, problem: damage ?? problems.outside };
}
