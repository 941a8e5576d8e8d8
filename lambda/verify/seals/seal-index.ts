import type { KeyObject } from 'node:crypto';
import { CronError } from '../../schedule/cron';
import { firingsOfSchedule } from '../../schedule/firings';
import { clockSlackMs } from '../../time-limits';
import type { ArchiveReader } from '../archive-reader';
import { firstOf } from '../newest-first';
import type { Seal } from './seal';
import { listSeals, parseSeal, readSealFile, spkiOf } from './seal-file';

/** A right seal, with the SHA-256 of its line. */
export type IndexedSeal = Seal & { readonly sha256: string };

/** Files that are read at most to find the newest seal that is right. */
const mostRead = 5;

/**
 * Reads single seals of an archive. Each is right by itself: what it has a hash of was so when it was made. Whether all of
 * them are one chain is for `verify` to say. Seals that were read stay in memory.
 */
export class SealIndex {
  readonly #reader: ArchiveReader;
  readonly #read = new Map<number, IndexedSeal | undefined>();
  #trusted: ReadonlySet<string> | undefined;
  #numbers: readonly number[] | undefined;

  /** @param publicKeys that may have signed; left out: the key that signed the first seal */
  constructor(reader: ArchiveReader, publicKeys?: readonly KeyObject[]) {
    this.#reader = reader;
    this.#trusted = publicKeys && new Set(publicKeys.map(spkiOf));
  }

  /** The numbers of all seals, right or not. @throws ArchiveReadError */
  async numbers(): Promise<readonly number[]> {
    this.#numbers ??= await listSeals(this.#reader, () => undefined);
    return this.#numbers;
  }

  /** The right seals that can have what was written at a time or later, in order. @throws ArchiveReadError */
  async *since(time: Date): AsyncGenerator<IndexedSeal> {
    const numbers = await this.numbers();
    yield* this.#right(numbers.slice(await this.#firstSince(time.getTime() - clockSlackMs)));
  }

  /** The newest of the last seals that is right: it says what is due and what is damaged. @throws ArchiveReadError */
  async newest(): Promise<IndexedSeal | undefined> {
    return firstOf(this.#right([...(await this.numbers())].reverse().slice(0, mostRead)));
  }

  /** The index of the first seal whose listing began then or later: seals follow one another in time. */
  async #firstSince(time: number): Promise<number> {
    const numbers = await this.numbers();
    let [low, high] = [0, numbers.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      // What is no right seal has no time. The next that is right tells.
      const seal = await firstOf(this.#right(numbers.slice(middle, high)));
      if (seal !== undefined && Date.parse(seal.listedFrom) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Those that are right, one after the other. */
  async *#right(numbers: readonly number[]): AsyncGenerator<IndexedSeal> {
    for (const number of numbers) {
      if (!this.#read.has(number)) this.#read.set(number, await this.#readSeal(number));
      const seal = this.#read.get(number);
      if (seal !== undefined) yield seal;
    }
  }

  async #readSeal(number: number): Promise<IndexedSeal | undefined> {
    this.#trusted ??= await this.#firstKey();
    const { signed } = await readSealFile(this.#reader, number);
    if (signed === undefined || !this.#trusted.has(signed.publicKey)) return undefined;
    const seal = parseSeal(signed.bytes);
    return typeof seal === 'string' || seal.number !== number ? undefined : { ...seal, sha256: signed.sha256 };
  }

  async #firstKey(): Promise<ReadonlySet<string>> {
    for (const number of await this.numbers()) {
      const { signed } = await readSealFile(this.#reader, number);
      if (signed !== undefined) return new Set([signed.publicKey]);
    }
    return new Set();
  }
}

/** When runs are due, as a seal says it, and in how many shards; undefined if its schedule cannot be read, which `verify` says. */
export function planOf({ plan, listedFrom }: Pick<Seal, 'plan' | 'listedFrom'>) {
  try {
    return { firings: firingsOfSchedule(plan.schedule), usedAt: new Date(listedFrom), shards: plan.shards ?? 1 };
  } catch (error) {
    if (error instanceof CronError) return undefined;
    throw error;
  }
}
