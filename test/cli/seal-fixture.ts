import { createHash, generateKeyPairSync, type KeyPairKeyObjectResult, sign } from 'node:crypto';
import { runsPrefix, sealKey } from '../../lambda/archive/archive-layout';
import { type Hashed, type Seal, sealText } from '../../lambda/verify/seals/seal';
import { type ArchiveFixture, hourly } from './archive-fixture';

/** A pair of keys such as KMS makes for seals. */
export function signingKeys(): KeyPairKeyObjectResult {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

export interface SealOptions {
  /** Time of the audit, and of S3 when it began to list. */
  readonly at: Date;
  /** Left out: those of the fixture. */
  readonly keys?: KeyPairKeyObjectResult;
  /** Left out: an audit that died before it signed leaves none. */
  readonly isSigned?: boolean;
  /** Objects that no run record has a hash for. */
  readonly objects?: readonly Hashed[];
  readonly changes?: Partial<Seal>;
}

/** Seals an archive as the audit does, with a key of its own. */
export class SealFixture {
  readonly keys = signingKeys();
  readonly #archive: ArchiveFixture;
  readonly #sealed = new Set<string>();
  #number = 0;
  #previous: Seal['previous'] = null;

  constructor(archive: ArchiveFixture) {
    this.#archive = archive;
  }

  /** Of the SPKI, in PEM. */
  get publicKey(): string {
    return this.keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  }

  /** Seals the run records that no seal has. @returns the SHA-256 of the seal */
  async seal({ at, keys, isSigned = true, objects = [], changes }: SealOptions): Promise<string> {
    this.#number += 1;
    const seal: Seal = {
      version: 1,
      number: this.#number,
      archive: 'archive-bucket',
      seal: at.toISOString(),
      previous: this.#previous,
      listedFrom: at.toISOString(),
      records: await this.#newRecords(),
      objects: [...objects],
      plan: { clusters: 2, schedule: hourly },
      configurations: [],
      due: { runs: 2, absent: [] },
      verified: { objects: 8, bytes: 1000, carriedOver: 0, carriedOverRecords: 0 },
      found: {},
      findings: [],
      failing: [],
      cursor: {
        records: null,
        verified: { seal: this.#number + 1, record: 0, outcome: 0 },
        searchedTo: at.toISOString(),
      },
      collectorVersion: '1.0.0',
      ...changes,
    };
    const sha256 = await this.put(seal, this.#number);
    if (isSigned) await this.sign(this.#number, sha256, keys);
    this.#previous = { key: sealKey({ number: this.#number, part: 'seal' }), sha256 };
    return sha256;
  }

  /** Writes a seal as it is, over one that is there. @returns its SHA-256 */
  async put(seal: Seal, number = seal.number): Promise<string> {
    const content = sealText(seal);
    await this.#archive.put(sealKey({ number, part: 'seal' }), content, {});
    return createHash('sha256').update(content).digest('hex');
  }

  async sign(number: number, sha256: string, { privateKey, publicKey } = this.keys): Promise<void> {
    const content = sealText({
      sha256,
      algorithm: 'ECDSA_SHA_256',
      keyArn: 'arn:aws:kms:eu-central-1:123456789012:key/00000000-0000-4000-8000-000000000000',
      publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
      signature: sign('sha256', Buffer.from(sha256), privateKey).toString('base64'),
    });
    await this.#archive.put(sealKey({ number, part: 'signature' }), content, {});
  }

  async read(number: number): Promise<Seal> {
    return JSON.parse((await this.#bytesOf(sealKey({ number, part: 'seal' }))).toString()) as Seal;
  }

  async #newRecords(): Promise<Hashed[]> {
    const { objects } = await this.#archive.store.list(runsPrefix);
    const keys = objects.map(({ key }) => key).filter((key) => !this.#sealed.has(key));
    return Promise.all(
      keys.map(async (key) => {
        this.#sealed.add(key);
        const bytes = await this.#bytesOf(key);
        return { key, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
      }),
    );
  }

  async #bytesOf(key: string): Promise<Buffer> {
    const found = await this.#archive.store.get(key);
    if (found === undefined) throw new Error(`there is no ${key}`);
    const chunks: Buffer[] = [];
    for await (const chunk of found.open()) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
}
