import { type ObjectName, objectKey } from '../format/keys';
import { type Resource, resourceNames } from '../format/resources';
import type { ArchiveReader } from './archive-reader';
import { ObjectSet } from './object-set';
import { keysOfCluster } from './objects-between';
import type { Period } from './run-keys';

/**
 * Says whether objects lie there that run records name. The keys of a cluster are listed once, when the first of them is
 * asked for; each costs a few bits.
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

  /** @throws ArchiveReadError */
  async has(name: ObjectName): Promise<boolean> {
    const { cluster, resource } = name;
    const ofCluster = this.#listed.get(cluster) ?? [];
    this.#listed.set(cluster, ofCluster);
    const at = resourceNames.indexOf(resource);
    ofCluster[at] ??= this.#list(resource, cluster);
    await ofCluster[at];
    // A run that ended since was not in the listing yet.
    return this.#objects.has(name) || (await this.#reader.head(objectKey(name))) !== undefined;
  }

  async #list(resource: Resource, cluster: string): Promise<void> {
    // Of a folder, what else a listing has is read file by file.
    for await (const { name } of keysOfCluster(this.#reader, resource, cluster, this.#period))
      if (name !== undefined) this.#objects.add(name);
  }
}
