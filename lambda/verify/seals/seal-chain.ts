import type { KeyObject } from 'node:crypto';
import { sealKey, sealsPrefix } from '../../archive/archive-layout';
import { type ArchiveReader, VersionsDeniedError } from '../archive-reader';
import type { Find } from '../finding';
import { mapConcurrently } from '../map-concurrently';
import type { Failing, Seal } from './seal';
import { listSeals, readFiles, type SealFiles } from './seal-files';
import { checkSignature } from './signature';
import { SigningKeys } from './signing-keys';

/** One seal of the chain, with counts in place of the lists that grow with the fleet. */
export interface ChainedSeal extends Omit<Seal, 'records' | 'objects' | 'failing'> {
  readonly key: string;
  /** Of the file. */
  readonly sha256: string;
  readonly records: number;
  readonly objects: number;
  readonly failing: number;
  /** `unsigned`: it has no signature yet. `wrong`: it has one that proves nothing. */
  readonly signature: 'right' | 'unsigned' | 'wrong';
  /** SPKI in DER, base64. */
  readonly publicKey?: string | undefined;
}

/** What a seal says of one run record or object. */
export interface Sealed {
  /** Number of the seal. */
  readonly seal: number;
  readonly sha256: string;
  /** Whether the archive was seen to have it. */
  isThere: boolean;
}

export interface ChainOptions {
  /** The keys that may have signed; left out: whichever signed the first seal must have signed all. */
  readonly publicKeys?: readonly KeyObject[] | undefined;
}

/** All seals of an archive. Memory grows with the number of sealed run records: about 250 bytes for each. */
export interface SealChain {
  /** Those that can be read, in order. */
  readonly seals: readonly ChainedSeal[];
  /** Greatest number under which there is a seal, readable or not; 0: there is none. */
  readonly lastNumber: number;
  /** The last seal's file, readable or not. */
  readonly last: { readonly key: string; readonly sha256: string } | undefined;
  /** By key. */
  readonly records: ReadonlyMap<string, Sealed>;
  readonly objects: ReadonlyMap<string, Sealed>;
  /** The newest seal whose signature is right: what no seal has is judged by it. */
  readonly newest: ChainedSeal | undefined;
  /** The seal that the next audit goes on from: the newest, or the last if no signature is right. */
  readonly before: ChainedSeal | undefined;
  /** Clusters that fail, as that seal says. */
  readonly failing: readonly Failing[];
}

/** Seals read at once. */
const concurrency = 16;

/**
 * Reads every seal and finds what breaks the chain.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readChain(reader: ArchiveReader, { publicKeys }: ChainOptions, find: Find): Promise<SealChain> {
  const builder = new ChainBuilder(publicKeys, find);
  const names = await listSeals(reader, find);
  for await (const files of mapConcurrently(names, concurrency, (name) => readFiles(reader, name))) builder.add(files);
  await findReplaced(reader, find);
  return builder.chain();
}

async function findReplaced(reader: ArchiveReader, find: Find): Promise<void> {
  try {
    for (const { key, at } of (await reader.replaced?.(sealsPrefix)) ?? [])
      find('seal-broken', key, `it was deleted or overwritten; the version before is of ${at.toISOString()}`);
  } catch (error) {
    if (!(error instanceof VersionsDeniedError)) throw error;
    const problem = `not checked whether seals were deleted or overwritten; it takes s3:ListBucketVersions. ${error.message}`;
    find('unreadable', `${sealsPrefix}*`, problem);
  }
}

/** Takes seals in the order of their numbers. */
class ChainBuilder {
  readonly #keys: SigningKeys;
  readonly #find: Find;
  readonly #seals: ChainedSeal[] = [];
  readonly #records = new Map<string, Sealed>();
  readonly #objects = new Map<string, Sealed>();
  /** The files before, as far as they are there. */
  #last: { readonly number: number; readonly sha256: string | undefined } = { number: 0, sha256: undefined };
  #archive: string | undefined;
  #newest: ChainedSeal | undefined;
  #failing: Seal['failing'] = [];
  /** A seal without a signature: no harm as long as it is the last. */
  #unsigned: number | undefined;

  constructor(publicKeys: readonly KeyObject[] | undefined, find: Find) {
    this.#keys = new SigningKeys(publicKeys, find);
    this.#find = find;
  }

  add({ number, sha256, seal, problem, signature }: SealFiles): void {
    const key = sealKey({ number, part: 'seal' });
    this.#judgeUnsigned('seal-broken');
    this.#findGap(number);
    if (problem !== undefined) this.#find('seal-broken', key, problem);
    if (seal !== undefined && sha256 !== undefined) {
      this.#checkPlace(key, number, seal);
      this.#keep(seal.records, this.#records, key, number);
      this.#keep(seal.objects, this.#objects, key, number);
      const checked = this.#checkSignature(key, number, sha256, signature);
      const counts = {
        records: seal.records.length,
        objects: seal.objects.length,
        failing: seal.failing.length,
      };
      this.#seals.push({ ...seal, ...counts, number, key, sha256, ...checked });
      if (checked.signature === 'right') this.#newest = this.#seals.at(-1);
      if (checked.signature === 'right' || this.#newest === undefined) this.#failing = seal.failing;
    }
    this.#last = { number, sha256 };
  }

  chain(): SealChain {
    this.#judgeUnsigned('pending');
    this.#keys.end();
    const { number, sha256 } = this.#last;
    return {
      seals: this.#seals,
      lastNumber: number,
      last: sha256 === undefined ? undefined : { key: sealKey({ number, part: 'seal' }), sha256 },
      records: this.#records,
      objects: this.#objects,
      newest: this.#newest,
      before: this.#newest ?? this.#seals.at(-1),
      failing: this.#failing,
    };
  }

  #findGap(number: number): void {
    const [first, last] = [this.#last.number + 1, number - 1];
    if (first > last) return;
    const which = first === last ? 'it is' : `it and those up to number ${last} are`;
    this.#find('seal-broken', sealKey({ number: first, part: 'seal' }), `${which} not there, and later seals are`);
  }

  #checkPlace(key: string, number: number, seal: Seal): void {
    if (seal.number !== number) this.#find('seal-broken', key, `it says that it is number ${seal.number}`);
    this.#archive ??= seal.archive;
    if (seal.archive !== this.#archive)
      this.#find('seal-broken', key, `it is of the archive ${seal.archive}, the seals before of ${this.#archive}`);
    const { previous } = seal;
    const before = this.#last;
    if (number === 1) {
      if (previous !== null) this.#find('seal-broken', key, 'it is the first and says that another came before');
      return;
    }
    const isChained =
      before.number === number - 1 &&
      previous?.key === sealKey({ number: number - 1, part: 'seal' }) &&
      previous.sha256 === before.sha256;
    // A gap, or a seal before that cannot be read, is said already.
    if (!isChained && before.number === number - 1 && before.sha256 !== undefined)
      this.#find('seal-broken', key, 'the hash in it is not that of the seal before');
  }

  #keep(hashed: Seal['records'], kept: Map<string, Sealed>, key: string, number: number): void {
    for (const { key: sealed, sha256 } of hashed) {
      const before = kept.get(sealed);
      if (before === undefined) kept.set(sealed, { seal: number, sha256, isThere: false });
      else if (before.sha256 !== sha256)
        this.#find('seal-broken', key, `seal ${before.seal} has another hash of ${sealed}`);
    }
  }

  #checkSignature(
    key: string,
    number: number,
    sha256: string,
    signature: SealFiles['signature'],
  ): Pick<ChainedSeal, 'signature' | 'publicKey'> {
    if (signature === undefined) {
      this.#unsigned = number;
      return { signature: 'unsigned' };
    }
    const { bytes, problem } = signature;
    const checked = bytes && checkSignature(bytes.toString('utf8'), sha256);
    const wrong = bytes === undefined ? `its signature file: ${problem}` : (checked?.problem ?? problem);
    if (wrong !== undefined) this.#find('seal-broken', key, wrong);
    const publicKey = checked?.publicKey;
    const isTrusted = checked?.problem === undefined && publicKey !== undefined && this.#keys.judge(number, publicKey);
    return { signature: wrong === undefined && isTrusted ? 'right' : 'wrong', publicKey };
  }

  #judgeUnsigned(kind: 'seal-broken' | 'pending'): void {
    if (this.#unsigned === undefined) return;
    const key = sealKey({ number: this.#unsigned, part: 'seal' });
    const problem =
      kind === 'pending'
        ? 'it is not signed yet and proves nothing; the next audit compares it with the archive and signs it'
        : 'it is not signed, and later seals are there';
    this.#find(kind, key, problem);
    this.#unsigned = undefined;
  }
}
