import type { KeyObject } from 'node:crypto';
import { counted } from '../../format/counted';
import type { Find } from '../../format/finding';
import { sealKey } from '../../format/keys';
import { type Hashed, mostNamed, type PassedOver, type Seal } from '../../format/seal';
import { parseSeal, type SignedLine, spkiOf } from '../../format/seal-file';
import { emptyState, type SealState } from '../../format/seal-state';
import type { SealFile } from './read-seals';

/** A seal that is right by itself. */
export interface RightSeal extends Seal {
  readonly key: string;
  /** Of its line. */
  readonly sha256: string;
  /** Whether it is in the chain: the hashes of later seals lead to it from the head. */
  isChained: boolean;
}

/** What a seal says of one run record or object. */
export interface Sealed extends Pick<Hashed, 'sha256'> {
  readonly by: RightSeal;
}

/** A file that is signed with the key that it names, trusted or not. */
export interface SignedFile extends Pick<SignedLine, 'publicKey'> {
  readonly number: number;
  readonly isTrusted: boolean;
}

export interface ChainOptions {
  /** The keys that may have signed; left out: whichever signed the first seal must have signed all. */
  readonly publicKeys?: readonly KeyObject[] | undefined;
  /** The bucket that the seals have to name; left out: the one that the first of them names. It may be read from a copy. */
  readonly archive?: string | undefined;
}

/** Longest reason for passing over a file, in characters: it may quote what the file says. */
const mostCharacters = 300;

/**
 * All seals of an archive. What is not right by itself claims nothing: it is a finding. The hashes of a right seal bind
 * wherever it lies; everything else that it says counts only in the chain. Memory grows with the number of sealed run
 * records: about 300 bytes for each.
 */
export class SealChain {
  /** The right ones, in the chain or not. */
  readonly all: RightSeal[] = [];
  /** From the first seal to the head, each with the hash of the one before it. */
  seals: readonly RightSeal[] = [];
  /** What they name, by key, in the order of their numbers. */
  readonly records = new Map<string, Sealed>();
  readonly objects = new Map<string, Sealed>();
  readonly sealedStamps = new Map<string, Sealed>();
  /** The stamps that are there: their keys in order, and when each was written. */
  stamps: ReadonlyMap<string, Date> = new Map();
  /** What is not right, by number. */
  readonly passedOver = new Map<number, PassedOver>();
  /** All files with a signature, in the order of their numbers. */
  readonly signed: SignedFile[] = [];
  /** What the next audit goes on from: the newest state in the chain that is right. */
  state: SealState = emptyState;
  /** The seal that this state is of; undefined: no state is right, or there is no seal. */
  stateOf: RightSeal | undefined;
  readonly #find: Find;
  /** SPKI in base64; undefined: nothing signed was seen yet, and whichever key signed the first must have signed all. */
  #trusted: ReadonlySet<string> | undefined;
  /** Those of them that signed, in the order in which each did so first. */
  readonly #keys = new Set<string>();
  #archive: string | undefined;

  constructor({ publicKeys, archive }: ChainOptions, find: Find) {
    this.#trusted = publicKeys && new Set(publicKeys.map(spkiOf));
    this.#archive = archive;
    this.#find = find;
  }

  /** The right seal with the highest number: what the next audit goes on from. */
  get head(): RightSeal | undefined {
    return this.all.at(-1);
  }

  /** How many files lie under keys of seals. */
  get files(): number {
    return this.all.length + this.passedOver.size;
  }

  /** The next free number behind the head, and what lies between. */
  get next(): Pick<Seal, 'number' | 'passedOver'> {
    const behind: PassedOver[] = [];
    const first = (this.head?.number ?? 0) + 1;
    for (let one = this.passedOver.get(first); one !== undefined; one = this.passedOver.get(first + behind.length))
      behind.push(one);
    return { number: first + behind.length, passedOver: counted(behind, mostNamed) };
  }

  /** Says which seals that kept mails are of are not in the chain. @param mails SHA-256 of the seals */
  *lostMails(mails: readonly string[] = []): Generator<string> {
    for (const mail of mails) {
      const seal = this.all.find(({ sha256 }) => sha256 === mail);
      const which = `the SHA-256 ${mail}, which was given`;
      if (seal === undefined)
        yield `no seal has ${which}: seals were removed or replaced, or the chain was rolled back`;
      else if (!seal.isChained) yield `the seal with ${which}, is not in the chain: the chain was rolled back or cut`;
    }
  }

  /** Takes files in the order of their numbers. */
  add({ number, sha256, signed, problem }: SealFile): void {
    if (problem !== undefined) this.#find('seal-broken', sealKey(number), problem);
    const why = signed === undefined ? problem : this.#takeSigned(number, signed);
    if (why !== undefined) this.passedOver.set(number, { number, sha256, why: why.slice(0, mostCharacters) });
  }

  /** @returns why it is not right; undefined: it is */
  #takeSigned(number: number, { bytes, sha256, publicKey }: SignedLine): string | undefined {
    this.#trusted ??= new Set([publicKey]);
    const isTrusted = this.#trusted.has(publicKey);
    this.signed.push({ number, publicKey, isTrusted });
    if (!isTrusted) return 'it is signed with a key that is not trusted';
    this.#keys.add(publicKey);
    const isFormer = [...this.#keys].at(-1) !== publicKey;
    const seal = isFormer ? 'it is signed with a former key, and seals before it with a later one' : parseSeal(bytes);
    const problem = typeof seal === 'string' ? seal : this.#misplaced(seal, number);
    if (problem !== undefined) this.#find('seal-broken', sealKey(number), problem);
    else if (typeof seal !== 'string') this.#take(seal, sha256);
    return problem;
  }

  #misplaced(seal: Seal, number: number): string | undefined {
    if (seal.number !== number) return `it says that it is number ${seal.number}`;
    this.#archive ??= seal.archive;
    return seal.archive === this.#archive ? undefined : `it is of the archive ${seal.archive}, not of ${this.#archive}`;
  }

  #take(seal: Seal, sha256: string): void {
    const right: RightSeal = { ...seal, key: sealKey(seal.number), sha256, isChained: false };
    this.#keep(seal.records, this.records, right);
    this.#keep(seal.objects, this.objects, right);
    this.#keep(seal.stamps, this.sealedStamps, right);
    this.all.push(right);
  }

  #keep(hashed: Seal['records'], kept: Map<string, Sealed>, by: RightSeal): void {
    for (const { key, sha256 } of hashed) {
      const before = kept.get(key);
      if (before === undefined) kept.set(key, { sha256, by });
      else if (before.sha256 !== sha256)
        this.#find('seal-broken', by.key, `seal ${before.by.number} has another hash of ${key}`);
    }
  }
}
