import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { parseRunRecordKey, runsPrefix, sealKey, sealStateKey } from '../../archive/format/keys';
import { jsonLinesType } from '../../archive/format/object-headers';
import type { Hashed, Seal } from '../../archive/format/seal';
import { sha256Of } from '../../archive/format/seal-file';
import { emptyState, type SealState } from '../../archive/format/seal-state';
import { openDamage } from '../../archive/prove/seals/open-damage';
import { emptySeal, signSeal } from '../support/empty-seal';
import type { ArchiveFixture } from './archive-fixture';

/** A pair of keys such as KMS makes for seals. */
export function signingKeys(): KeyPairKeyObjectResult {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

export const sealedPlan = emptySeal.plan;

export interface SealOptions {
  /** Time of the audit, and of S3 when it began to list. */
  readonly at: Date;
  /** Left out: those of the fixture. */
  readonly keys?: KeyPairKeyObjectResult;
  /** Seals the records of runs before it; left out: of all. */
  readonly runsBefore?: Date;
  /** Objects that no run record has a hash for. */
  readonly objects?: readonly Hashed[];
  readonly changes?: Partial<Seal>;
  readonly state?: Partial<SealState>;
}

/** Seals an archive as the audit does, with a key of its own. */
export class SealFixture {
  readonly keys: KeyPairKeyObjectResult;
  readonly #archive: ArchiveFixture;
  readonly #sealed = new Set<string>();
  #number = 0;
  #previous: Seal['previous'] = null;

  constructor(archive: ArchiveFixture, keys = signingKeys()) {
    this.#archive = archive;
    this.keys = keys;
  }

  /** The same seals in a copy of the archive. */
  in(archive: ArchiveFixture): SealFixture {
    const copy = new SealFixture(archive, this.keys);
    for (const key of this.#sealed) copy.#sealed.add(key);
    copy.#number = this.#number;
    copy.#previous = this.#previous;
    return copy;
  }

  /** Of the SPKI, in PEM. */
  get publicKey(): string {
    return this.keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  }

  /** Seals the run records that no seal has. @returns the SHA-256 of the seal */
  async seal({ at, keys, runsBefore, objects = [], changes, state: more }: SealOptions): Promise<string> {
    this.#number += 1;
    const state = Buffer.from(JSON.stringify({ ...emptyState, ...more }));
    await this.#archive.put(sealStateKey(sha256Of(state)), state, {}, { contentType: 'application/json' });
    const plan = changes?.plan ?? sealedPlan;
    const { count: damage, ...open } = openDamage({ ...emptyState, ...more, plan, seal: at.toISOString() });
    const seal: Seal = {
      ...emptySeal,
      number: this.#number,
      seal: at.toISOString(),
      previous: this.#previous,
      listedFrom: at.toISOString(),
      records: await this.#newRecords(runsBefore),
      objects: [...objects],
      due: { ...emptySeal.due, runs: 2 },
      verified: { ...emptySeal.verified, objects: 8, bytes: 1000 },
      open: { damage, acknowledged: open.acknowledged.length, unreadable: open.unreadable.length },
      state: sha256Of(state),
      ...changes,
    };
    const sha256 = await this.put(seal, { number: this.#number, ...(keys && { keys }) });
    this.#previous = { key: sealKey(this.#number), sha256 };
    return sha256;
  }

  /**
   * Writes a signed seal as it is, over one that is there.
   * @param number of its key
   * @param signed SHA-256 of what is signed in place of the seal
   * @returns its SHA-256
   */
  async put(seal: Seal, { number = seal.number, keys = this.keys, signed = '' } = {}): Promise<string> {
    const { sha256, file } = signSeal(seal, keys.privateKey, signed);
    await this.#archive.put(sealKey(number), file, {}, { contentType: jsonLinesType });
    return sha256;
  }

  async read(number: number): Promise<Seal> {
    return JSON.parse((await this.#bytesOf(sealKey(number))).toString().split('\n')[0] ?? '') as Seal;
  }

  async #newRecords(before?: Date): Promise<Hashed[]> {
    const keys: string[] = [];
    for await (const { key } of this.#archive.store.list(runsPrefix)) {
      const isIn = before === undefined || (parseRunRecordKey(key)?.run ?? before) < before;
      if (isIn && !this.#sealed.has(key)) keys.push(key);
    }
    return Promise.all(
      keys.map(async (key) => {
        this.#sealed.add(key);
        const bytes = await this.#bytesOf(key);
        return { key, sha256: sha256Of(bytes), bytes: bytes.length };
      }),
    );
  }

  async #bytesOf(key: string): Promise<Buffer> {
    const found = await this.#archive.store.get(key);
    if (found === undefined) throw new Error(`there is no ${key}`);
    return buffer(found.open());
  }
}
