import type { KeyObject } from 'node:crypto';
import { parseSealKey, runsPrefix, sealKey, sealsPrefix } from '../../archive/archive-layout';
import { type ArchiveReader, VersionsDeniedError } from '../archive-reader';
import type { Find } from '../finding';
import { mapConcurrently } from '../map-concurrently';
import { openDamage } from './open-damage';
import { type Failing, mostPassedOver, type OpenFinding, type PassedOver, type Seal, type SealedLogs } from './seal';
import { listSeals, parseSeal, readSealFile, type SealFile, type SignedLine } from './seal-file';
import { SigningKeys } from './signing-keys';

/** A right seal, with counts in place of the lists that grow with the fleet. */
export interface RightSeal extends Omit<Seal, 'records' | 'objects' | 'failing' | 'open' | 'logs'> {
  readonly key: string;
  /** Of its line. */
  readonly sha256: string;
  readonly records: number;
  readonly objects: number;
  readonly failing: number;
  /** Damage that is open, that is acknowledged, and what could not be read. */
  readonly open: { readonly damage: number; readonly acknowledged: number; readonly unreadable: number };
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
  /** The bucket that the seals have to name; left out: the one that the first of them names. It may be read from a copy. */
  readonly archive?: string | undefined;
}

/**
 * All seals of an archive. What is not right claims nothing: it is a finding. The hashes of a right seal bind wherever it
 * lies; everything else that it says counts only in the chain. Memory grows with the number of sealed run records: about 250
 * bytes for each.
 */
export interface SealChain {
  /** From the first seal to the head, each with the hash of the one before it. */
  readonly seals: readonly RightSeal[];
  /** Right seals that are not in the chain. */
  readonly beside: readonly RightSeal[];
  /** The right seal with the highest number: what the next audit goes on from. */
  readonly head: RightSeal | undefined;
  /** Clusters that fail, and what could not be read, as the head says. */
  readonly failing: readonly Failing[];
  readonly open: readonly OpenFinding[];
  /** How logs follow each other, as the head says; undefined: it says nothing of it. */
  readonly logs: SealedLogs | undefined;
  /** The next free number behind the head, and what lies between. */
  readonly next: Pick<Seal, 'number' | 'passedOver' | 'passedOverMore'>;
  /** What all right seals name, by key. */
  readonly records: ReadonlyMap<string, Sealed>;
  readonly objects: ReadonlyMap<string, Sealed>;
  /** Keys that made signatures, trusted or not, each with the numbers of its files: SPKI in DER, base64. */
  readonly signers: ReadonlyMap<string, readonly number[]>;
  /** How many files lie under keys of seals, and how many of them could not be read. */
  readonly files: number;
  readonly unread: number;
}

/** The key of what a first seal finds that should not be the first: it is about all runs that no seal attests. */
export const earlierRuns = `${runsPrefix}*`;

/** Longest reason for passing over a file, in characters: it may quote what the file says. */
const mostCharacters = 300;

/** Seals read at once: each may take 64 MB. */
const concurrency = 4;

/**
 * Reads every seal, and finds what is not right and what breaks the chain.
 * @throws ArchiveReadError if the archive, or one seal for a passing reason, cannot be read
 */
export async function readChain(reader: ArchiveReader, options: ChainOptions, find: Find): Promise<SealChain> {
  const builder = new ChainBuilder(options, find);
  const numbers = await listSeals(reader, find);
  for await (const file of mapConcurrently(numbers, concurrency, (number) => readSealFile(reader, number)))
    builder.add(file);
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

/** Takes files in the order of their numbers. */
class ChainBuilder {
  readonly #keys: SigningKeys;
  readonly #find: Find;
  readonly #right: RightSeal[] = [];
  readonly #passedOver = new Map<number, PassedOver>();
  readonly #signers = new Map<string, number[]>();
  readonly #records = new Map<string, Sealed>();
  readonly #objects = new Map<string, Sealed>();
  #archive: string | undefined;
  #failing: Seal['failing'] = [];
  #open: Seal['open'] = [];
  #logs: SealedLogs | undefined;

  constructor({ publicKeys, archive }: ChainOptions, find: Find) {
    this.#keys = new SigningKeys(publicKeys, find);
    this.#archive = archive;
    this.#find = find;
  }

  add({ number, sha256, signed, problem }: SealFile): void {
    const key = sealKey(number);
    if (problem !== undefined) this.#find('seal-broken', key, problem);
    const why = signed === undefined ? problem : this.#takeSigned(number, signed);
    if (why !== undefined) this.#passedOver.set(number, { number, sha256, why: why.slice(0, mostCharacters) });
  }

  /** @returns why it is not right; undefined: it is */
  #takeSigned(number: number, { bytes, sha256, publicKey }: SignedLine): string | undefined {
    const signed = this.#signers.get(publicKey) ?? [];
    this.#signers.set(publicKey, signed);
    signed.push(number);
    if (!this.#keys.judge(number, publicKey)) return 'it is signed with a key that is not trusted';
    const key = sealKey(number);
    const seal = parseSeal(bytes);
    const problem = typeof seal === 'string' ? seal : this.#misplaced(seal, number);
    if (typeof seal === 'string' || problem !== undefined) {
      this.#find('seal-broken', key, problem ?? '');
      return problem;
    }
    this.#keep(seal.records, this.#records, key, number);
    this.#keep(seal.objects, this.#objects, key, number);
    const { count: damage, acknowledged, unreadable } = openDamage(seal);
    const counts = {
      records: seal.records.length,
      objects: seal.objects.length,
      failing: seal.failing.length,
      open: { damage, acknowledged: acknowledged.length, unreadable: unreadable.length },
    };
    this.#right.push({ ...seal, ...counts, key, sha256 });
    this.#failing = seal.failing;
    this.#logs = seal.logs;
    this.#open = seal.open;
    return undefined;
  }

  #misplaced(seal: Seal, number: number): string | undefined {
    if (seal.number !== number) return `it says that it is number ${seal.number}`;
    this.#archive ??= seal.archive;
    return seal.archive === this.#archive ? undefined : `it is of the archive ${seal.archive}, not of ${this.#archive}`;
  }

  #keep(hashed: Seal['records'], kept: Map<string, Sealed>, key: string, number: number): void {
    for (const { key: sealed, sha256 } of hashed) {
      const before = kept.get(sealed);
      if (before === undefined) kept.set(sealed, { seal: number, sha256, isThere: false });
      else if (before.sha256 !== sha256)
        this.#find('seal-broken', key, `seal ${before.seal} has another hash of ${sealed}`);
    }
  }

  chain(): SealChain {
    this.#keys.end();
    const seals = this.#followHead();
    const isChained = new Set(seals);
    // Whether seals were there before the first, only those seals can say.
    const first = this.#open.find(({ key }) => key === earlierRuns);
    if (first !== undefined && this.#right[0] === seals[0]) this.#find('seal-broken', first.key, first.problem);
    const unread = [...this.#passedOver.values()].filter(({ sha256 }) => sha256 === null).length;
    return {
      seals,
      beside: this.#right.filter((seal) => !isChained.has(seal)),
      head: this.#right.at(-1),
      failing: this.#failing,
      open: this.#open,
      logs: this.#logs,
      next: this.#next(),
      signers: this.#signers,
      records: this.#records,
      objects: this.#objects,
      files: this.#right.length + this.#passedOver.size,
      unread,
    };
  }

  #next(): SealChain['next'] {
    let number = (this.#right.at(-1)?.number ?? 0) + 1;
    const passedOver: PassedOver[] = [];
    let passedOverMore = 0;
    for (let one = this.#passedOver.get(number); one !== undefined; one = this.#passedOver.get(number)) {
      if (passedOver.length < mostPassedOver) passedOver.push(one);
      else passedOverMore += 1;
      number += 1;
    }
    return { number, passedOver, passedOverMore };
  }

  /** Goes from the head along the hashes, and finds a link that is not there and right seals that no link leads to. */
  #followHead(): RightSeal[] {
    const byNumber = new Map(this.#right.map((seal) => [seal.number, seal]));
    const chained = new Set<RightSeal>();
    let missing: Link | undefined;
    for (let seal = this.#right.at(-1); seal !== undefined; ) {
      chained.add(seal);
      const link = this.#linkOf(seal);
      const before = link && byNumber.get(link.number);
      if (link !== undefined && before?.sha256 !== link.sha256) missing = link;
      seal = missing === undefined ? before : undefined;
    }
    if (missing !== undefined) this.#findMissing(missing);
    // What comes before a link that is not there is cut off, which is said with that link.
    const cutOff = missing?.number ?? 0;
    this.#findBeside((seal) => !chained.has(seal) && seal.number >= cutOff);
    return this.#right.filter((seal) => chained.has(seal));
  }

  /** One finding for seals one after the other: a whole chain may be beside another. */
  #findBeside(isBeside: (seal: RightSeal) => boolean): void {
    let run: RightSeal[] = [];
    for (const seal of [...this.#right, undefined]) {
      if (seal !== undefined && isBeside(seal)) {
        run.push(seal);
        continue;
      }
      const [first, last] = [run[0], run.at(-1)];
      run = [];
      if (first === undefined || last === undefined) continue;
      const which = last === first ? 'its signature is' : `its signature and those up to number ${last.number} are`;
      const problem = `${which} right, and no later seal leads there: the chain was forked or rolled back`;
      this.#find('seal-broken', first.key, problem);
    }
  }

  /** The seal before one, as it says; undefined if it is the first. */
  #linkOf({ number, key, previous, passedOver, passedOverMore }: RightSeal): Link | undefined {
    const before = previous === null ? 0 : (parseSealKey(previous.key) ?? number);
    const isListed = passedOver.every((one, at) => one.number === before + 1 + at);
    if (!isListed || before + passedOver.length + passedOverMore + 1 !== number)
      this.#find('seal-broken', key, 'it does not name the seal before it and everything between');
    return previous === null
      ? undefined
      : { number: Math.min(before, number - 1), sha256: previous.sha256, from: number };
  }

  #findMissing({ number, from }: Link): void {
    // What is wrong with a file that is there is said already.
    if (this.#passedOver.has(number)) return;
    const problem = `seal ${from} names it as the one before it, and it is not there; what seals before it claim does not count`;
    this.#find('seal-broken', sealKey(number), problem);
  }
}

/** The seal that another names as the one before it. */
interface Link {
  readonly number: number;
  readonly sha256: string;
  /** Number of the seal that names it. */
  readonly from: number;
}
