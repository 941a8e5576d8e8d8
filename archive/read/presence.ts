import { type ObjectName, objectKey } from '../format/keys';
import { type Resource, resourceNames } from '../format/resources';
import type { ArchiveReader } from './archive-reader';
import { ObjectSet } from './object-set';
import { keysOfCluster } from './objects-between';
import type { Period } from './run-keys';

/**
 * Says whether objects lie there that run records name. Where each takes a request, the keys of a cluster are listed once, when
 * the first of them is asked for; each costs a few bits.
 */
export class Presence {
  readonly #reader: ArchiveReader;
  readonly #period: Period;
  readonly #objects = new ObjectSet();
  readonly #listed = new Map<string, Promise<void>[]>();

  /** @param period has all runs that are asked for */
  constructor(reader: ArchiveReader, period: Period) {
    this.#reader = reader;
    this.#period = period;
  }

  /** At once where that can be said: a promise takes longer than to look into a folder. @throws ArchiveReadError */
  has(name: ObjectName, key = objectKey(name)): boolean | Promise<boolean> {
    return this.#reader.has?.(key) ?? (this.#objects.has(name) || this.#isListed(name, key));
  }

  async #isListed(name: ObjectName, key: string): Promise<boolean> {
    const { cluster, resource } = name;
    const ofCluster = this.#listed.get(cluster) ?? [];
    this.#listed.set(cluster, ofCluster);
    const at = resourceNames.indexOf(resource);
    ofCluster[at] ??= this.#list(resource, cluster);
    await ofCluster[at];
    // A run that ended since was not in the listing yet.
    return this.#objects.has(name) || (await this.#reader.head(key)) !== undefined;
  }

  async #list(resource: Resource, cluster: string): Promise<void> {
    for await (const { name } of keysOfCluster(this.#reader, resource, cluster, this.#period))
      if (name !== undefined) this.#objects.add(name);
  }
}
