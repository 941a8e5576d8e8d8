import type { KeyObject } from 'node:crypto';
import { sealKey } from '../../archive/archive-layout';
import type { Find } from '../finding';
import { spkiOf } from './signature';

/** Seals in a row that one unknown key signed. */
interface UnknownKey {
  readonly publicKey: string;
  readonly first: number;
  last: number;
}

/** Judges the keys that signed a chain, seal by seal. One unknown key is one finding, however many seals it signed. */
export class SigningKeys {
  /** SPKI in base64; undefined: no seal was judged yet, and whichever key signed the first must have signed all. */
  #trusted: ReadonlySet<string> | undefined;
  readonly #areGiven: boolean;
  readonly #find: Find;
  readonly #replaced = new Set<string>();
  #publicKey: string | undefined;
  #unknown: UnknownKey | undefined;

  constructor(trusted: readonly KeyObject[] | undefined, find: Find) {
    this.#trusted = trusted && new Set(trusted.map(spkiOf));
    this.#areGiven = trusted !== undefined;
    this.#find = find;
  }

  /** @returns whether the key may have signed this seal */
  judge(number: number, publicKey: string): boolean {
    this.#trusted ??= new Set([publicKey]);
    if (!this.#trusted.has(publicKey)) {
      this.#addUnknown(number, publicKey);
      return false;
    }
    this.end();
    const before = this.#publicKey;
    if (this.#replaced.has(publicKey)) {
      this.#find('seal-broken', keyOf(number), 'it is signed with a former key, and seals before it with a later one');
      return false;
    }
    if (before !== undefined && before !== publicKey) this.#replaced.add(before);
    this.#publicKey = publicKey;
    return true;
  }

  /** No seal follows. */
  end(): void {
    if (this.#unknown === undefined) return;
    const { first, last } = this.#unknown;
    this.#unknown = undefined;
    const which = first === last ? 'it is' : `it and those up to number ${last} are`;
    const problem = this.#areGiven
      ? 'signed with a key that is none of those given; if the key was replaced on purpose, give the former one too: ' +
        'verify takes it as --public-key, the audit as audit.formerPublicKeys'
      : 'signed with another key than the seals before; if that is right, name all keys with --public-key';
    this.#find('seal-broken', keyOf(first), `${which} ${problem}`);
  }

  #addUnknown(number: number, publicKey: string): void {
    if (this.#unknown?.publicKey !== publicKey) this.end();
    this.#unknown ??= { publicKey, first: number, last: number };
    this.#unknown.last = number;
  }
}

function keyOf(number: number): string {
  return sealKey(number);
}
