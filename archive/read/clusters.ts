import { type Find, findStray } from '../format/finding';
import { clusterPrefix, type ObjectName, parseClusterPrefix } from '../format/keys';
import { resourceNames, resources } from '../format/resources';
import type { ArchiveReader } from './archive-reader';

/** Some clusters of an archive, or of some of its runs. */
export interface Clusters {
  /** Those of them that the bucket has keys of, in the order of keys. */
  readonly names: readonly string[];
  /** Whether something is of one of them, also of one that has no keys any more. What has no cluster is of all. */
  readonly has: (name: Partial<Pick<ObjectName, 'cluster' | 'run'>>) => boolean;
}

/** All clusters. @param names of {@link clusterNames} */
export function allClusters(names: readonly string[]): Clusters {
  return { names, has: () => true };
}

export function namedClusters(names: Iterable<string>): Clusters {
  const own = new Set(names);
  return { names: [...own], has: ({ cluster }) => cluster === undefined || own.has(cluster) };
}

/**
 * The clusters from one name on and before another, in the order of keys: slices that follow each other have every cluster.
 * @param names of {@link clusterNames}
 * @param from undefined: from the first
 * @param before undefined: to the last
 */
export function clustersBetween(names: readonly string[], from: string | undefined, before?: string): Clusters {
  const [start, end] = [from, before].map((name) => (name === undefined ? undefined : placeOf(name)));
  const isBetween = (cluster: string) => {
    const place = placeOf(cluster);
    return (start === undefined || place >= start) && (end === undefined || place < end);
  };
  return { names: names.filter(isBetween), has: ({ cluster }) => cluster === undefined || isBetween(cluster) };
}

/** Sorts as keys do: a name in a key is ASCII. */
function placeOf(cluster: string): string {
  return clusterPrefix('log', cluster);
}

/**
 * The clusters that a bucket has keys of, configured or not, in the order of keys.
 * @param find gets each key that is not of a cluster
 * @throws ArchiveReadError
 */
export async function clusterNames(reader: ArchiveReader, find: Find): Promise<string[]> {
  const names = new Set<string>();
  for (const resource of resourceNames) {
    const prefix = `${resources[resource].folder}/`;
    const others = new Set<string>();
    for await (const { name } of reader.listNames(prefix)) {
      // What cannot be an object has a name of its own, in whichever folder it lies.
      const folder = name.slice(0, name.indexOf('/', prefix.length) + 1);
      const cluster = parseClusterPrefix(folder);
      if (cluster === undefined) others.add(folder || name);
      else names.add(cluster);
    }
    for (const name of others)
      for await (const object of reader.list(name)) {
        findStray(find, object);
        // A key is the first that begins like it.
        if (!name.endsWith('/')) break;
      }
  }
  const places = new Map([...names].map((name) => [placeOf(name), name]));
  return [...places.keys()].sort().flatMap((place) => places.get(place) ?? []);
}
