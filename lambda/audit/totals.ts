import type { Hashed } from '../../archive/format/seal';
import type { Judged, World } from '../../archive/prove/attest';
import { isPass, type Work } from './agenda';
import type { Observer } from './walk';

/** Counts what an audit judged, and keeps the hashes that the next seal has to have. */
export class Totals implements Observer {
  /** Objects that no run record has a hash of, and no seal, by their keys. */
  readonly hashed = new Map<string, Hashed>();
  /** Keys of what is gone, and the lifecycle may have removed it. */
  readonly expired = new Set<string>();
  /** Objects that were read, and how many of them only because all is read again; and how long they are, uncompressed. */
  readonly read = { objects: 0, old: 0, bytes: 0 };
  /** When all of the archive was read last in this audit. */
  all: { readonly from: string; readonly to: string } | undefined;
  readonly #world: Pick<World, 'sealed' | 'now'>;
  /** Of the slice that is being judged. */
  #slice = { objects: 0, bytes: 0 };

  constructor(world: Pick<World, 'sealed' | 'now'>) {
    this.#world = world;
  }

  take(judged: Judged, work?: Work): void {
    if ('expired' in judged && judged.expired.kind === 'missing') this.expired.add(judged.expired.key);
    if (!('object' in judged)) return;
    const { key, outcome, sha256, bytes, isUnrecorded, isVouched } = judged.object;
    // What only a record says that was replaced, nobody attests.
    const isWithoutHash = isVouched && outcome !== undefined && outcome.sha256 === undefined;
    if ((isUnrecorded || isWithoutHash) && sha256 !== undefined && !this.#world.sealed.has(key))
      this.hashed.set(key, { key, sha256, bytes });
    if (work === undefined || !(work.what === 'new' || isPass(work))) return;
    this.#slice.objects += 1;
    this.#slice.bytes += bytes;
  }

  judged(work: Work): void {
    this.read.objects += this.#slice.objects;
    if (isPass(work)) this.read.old += this.#slice.objects;
    this.read.bytes += this.#slice.bytes;
    this.#slice = { objects: 0, bytes: 0 };
  }

  passed({ what, since }: Work): void {
    if (what === 'reading') this.all = { from: since, to: this.#world.now.toISOString() };
  }
}
