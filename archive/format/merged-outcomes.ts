import { parseObjectKey } from './keys';
import { isStored, type Outcome, type RunOutcome, type StoredRecord, taskName } from './run-record';

/** Where the outcome lies that counts of one cluster x resource. */
interface Place {
  readonly record: StoredRecord;
  readonly index: number;
  readonly rank: number;
  /** Left out: it is read anew. */
  readonly kept?: Outcome;
}

/**
 * The outcomes of a run: those of its records, put together by {@link taskName}, in the order of the first record that has
 * them. What was archived stays archived, and a failure says more than `not-attempted`. Of two failures the later one
 * counts, of two stored outcomes the earlier: it wrote the object. The records stay in memory with them, and each outcome
 * is read anew whenever it is asked for, unless it is kept.
 */
export class MergedOutcomes implements Iterable<RunOutcome> {
  /** Optional ones that are not archived are `optionalMissing` alone. `doubts` are archived and counted as such. */
  readonly counts = { archived: 0, failed: 0, notAttempted: 0, optionalMissing: 0, doubts: 0 };
  /** Uncompressed and stored length of everything archived, as far as the records say. */
  bytes = 0;
  storedBytes = 0;
  readonly #places = new Map<string, Place>();
  readonly #isKept: boolean;

  /** @param isKept for whoever keeps all outcomes in memory anyway: then none is read twice */
  constructor(isKept = false) {
    this.#isKept = isKept;
  }

  /**
   * Records come in the order of their attempts.
   * @param isCredible what it refuses is passed over
   */
  add(record: StoredRecord, isCredible: (outcome: Outcome) => boolean = () => true): void {
    let index = 0;
    for (const outcome of record.outcomes) {
      const name = taskName(outcome);
      const rank = rankOf(outcome);
      const known = this.#places.get(name);
      const counts = known === undefined || rank > known.rank || (rank === known.rank && !isStored(outcome));
      if (counts && isCredible(outcome)) {
        const before = known?.record.outcomes.at(known.index);
        if (before !== undefined) this.#count(before, -1);
        this.#count(outcome, 1);
        this.#places.set(name, { record, index, rank, ...(this.#isKept && { kept: outcome }) });
      }
      index += 1;
    }
  }

  *[Symbol.iterator](): Generator<RunOutcome> {
    for (const { record, index, kept } of this.#places.values()) {
      const { attempt, collectorVersion, outcomes } = record;
      yield Object.assign(kept ?? (outcomes.at(index) as Outcome), { attempt, collectorVersion });
    }
  }

  /** While records are added: reading all outcomes once more would take a quarter of the time. */
  #count(outcome: Outcome, sign: 1 | -1): void {
    const { counts } = this;
    if (isStored(outcome)) counts.archived += sign;
    else if (outcome.optional) counts.optionalMissing += sign;
    else if (outcome.outcome === 'failed') counts.failed += sign;
    else counts.notAttempted += sign;
    if (outcome.doubt !== undefined) counts.doubts += sign;
    this.bytes += sign * (outcome.bytes ?? 0);
    this.storedBytes += sign * (outcome.storedBytes ?? 0);
  }
}

/** How much an outcome says, for comparison with that of another attempt. */
function rankOf({ outcome, sha256 }: Outcome): number {
  if (outcome === 'archived') return 4;
  if (outcome === 'already-archived') return sha256 === undefined ? 2 : 3;
  return outcome === 'failed' ? 1 : 0;
}

/** Whether an outcome's key is that of its own object in a run. */
export function hasOwnKey({ cluster, resource, key = '' }: Outcome, run: Date): boolean {
  const name = parseObjectKey(key);
  return name?.cluster === cluster && name.resource === resource && name.run.getTime() === run.getTime();
}
