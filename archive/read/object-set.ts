import type { ObjectName } from '../format/keys';
import { resourceNames } from '../format/resources';

const kinds = resourceNames.length;

/** A set of objects. It takes a few bits per cluster and run: the keys of a large fleet over years do not fit into memory. */
export class ObjectSet {
  readonly #clusters = new Map<string, number>();
  readonly #runs = new Map<number, Uint8Array>();
  readonly #keptName: (cluster: string) => string;

  /** @param keptName gives the name of a cluster to be kept; left out: a copy, because a part of a key keeps the whole key in memory */
  constructor(keptName = (cluster: string): string => Buffer.from(cluster).toString()) {
    this.#keptName = keptName;
  }

  add(name: ObjectName): void {
    const bit = this.#bitOf(name, true);
    const run = name.run.getTime();
    let bits = this.#runs.get(run) ?? new Uint8Array(0);
    if (bit >> 3 >= bits.length) {
      const grown = new Uint8Array(Math.max(64, (bit >> 3) + 1, Math.ceil((this.#clusters.size * kinds) / 8)));
      grown.set(bits);
      bits = grown;
      this.#runs.set(run, bits);
    }
    bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7));
  }

  has(name: ObjectName): boolean {
    const bit = this.#bitOf(name, false);
    return bit >= 0 && ((this.#runs.get(name.run.getTime())?.[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  delete(name: ObjectName): void {
    const bit = this.#bitOf(name, false);
    const bits = this.#runs.get(name.run.getTime());
    const byte = bits?.[bit >> 3];
    if (bit >= 0 && bits !== undefined && byte !== undefined) bits[bit >> 3] = byte & ~(1 << (bit & 7));
  }

  /** Times of the runs that it has an object of. */
  *runs(): Generator<Date> {
    for (const [run, bits] of this.#runs) if (bits.some((byte) => byte !== 0)) yield new Date(run);
  }

  #bitOf({ cluster, resource }: ObjectName, isNew: boolean): number {
    let index = this.#clusters.get(cluster);
    if (index === undefined) {
      if (!isNew) return -1;
      index = this.#clusters.size;
      this.#clusters.set(this.#keptName(cluster), index);
    }
    return index * kinds + resourceNames.indexOf(resource);
  }
}
