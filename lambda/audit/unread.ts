import { parseObjectKey } from '../archive/archive-layout';
import type { ArchiveReader } from '../verify/archive-reader';
import { checkObject } from '../verify/check-object';
import type { Find } from '../verify/finding';
import { mostOpen, type OpenFinding } from '../verify/seals/seal';
import type { SealChain } from '../verify/seals/seal-chain';

/**
 * Finds what cannot be read, and keeps it for the next audit. A fault may pass; what is sealed, and cannot be read in two
 * audits, is damage.
 */
export class Unread {
  readonly #find: Find;
  readonly #chain: SealChain;
  readonly #number: number;
  readonly #before: ReadonlyMap<string, OpenFinding>;
  readonly #open = new Map<string, OpenFinding>();

  /** @param number of the seal that is being made */
  constructor(find: Find, chain: SealChain, number: number) {
    this.#find = find;
    this.#chain = chain;
    this.#number = number;
    this.#before = new Map(chain.open.map((one) => [one.key, one]));
  }

  readonly find: Find = (kind, key, problem) => {
    if (kind !== 'unreadable') {
      this.#find(kind, key, problem);
      return;
    }
    if (this.#open.has(key)) return;
    const { since } = this.#before.get(key) ?? { since: this.#number };
    this.#open.set(key, { kind, key, problem: problem.slice(0, mostCharacters), since });
    const isLasting = since < this.#number && (this.#chain.records.has(key) || parseObjectKey(key) !== undefined);
    if (isLasting) this.#find('damaged', key, `it cannot be read since seal ${since}: ${problem}`);
    else this.#find(kind, key, problem);
  };

  /** Reads the objects again that could not be read before; run records without a seal are read in any case. */
  async readAgain(reader: ArchiveReader, stop: AbortSignal): Promise<void> {
    for (const one of this.#before.values()) {
      if (parseObjectKey(one.key) === undefined || this.#open.has(one.key)) continue;
      const { problem } = stop.aborted ? { problem: undefined } : await checkObject(reader, one.key);
      if (stop.aborted) this.#open.set(one.key, one);
      else if (problem !== undefined && problem.kind !== 'missing') this.find(problem.kind, one.key, problem.problem);
    }
  }

  /** As a seal has it. */
  get open(): OpenFinding[] {
    return [...this.#open.values()].slice(0, mostOpen);
  }
}

/** Longest reason, in characters. */
const mostCharacters = 300;
