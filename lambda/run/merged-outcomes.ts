import { isStored, type Outcome, type RunOutcome, type StoredRecord, taskName } from './run-record';

/** Where the outcome lies that counts of one cluster x resource. */
interface Place {
  readonly record: StoredRecord;
  readonly index: number;
  readonly rank: number;
}

/**
 * The outcomes of a run: those of its records, put together by {@link taskName}, in the order of the first record that has
 * them. What was archived stays archived, and a failure says more than `not-attempted`. Of two failures the later one
 * counts, of two stored outcomes the earlier: it wrote the object. The records stay in memory with them, and each outcome
 * is read anew whenever it is asked for.
 */
export class MergedOutcomes implements Iterable<RunOutcome> {
  readonly #places = new Map<string, Place>();

  /**
   * Records come in the order of their attempts.
   * @param isCredible what it refuses is passed over
   * @param onCounted told of each outcome that counts from now on, and of the one that counted instead of it before
   */
  add(
    record: StoredRecord,
    isCredible: (outcome: Outcome) => boolean = () => true,
    onCounted: (outcome: Outcome, before: Outcome | undefined) => void = () => {},
  ): void {
    let index = 0;
    for (const outcome of record.outcomes) {
      const name = taskName(outcome);
      const rank = rankOf(outcome);
      const known = this.#places.get(name);
      const counts = known === undefined || rank > known.rank || (rank === known.rank && !isStored(outcome));
      if (counts && isCredible(outcome)) {
        onCounted(outcome, known?.record.outcomes.at(known.index));
        this.#places.set(name, { record, index, rank });
      }
      index += 1;
    }
  }

  *[Symbol.iterator](): Generator<RunOutcome> {
    for (const { record, index } of this.#places.values()) {
      const { attempt, collectorVersion, outcomes } = record;
      yield Object.assign(outcomes.at(index) as Outcome, { attempt, collectorVersion });
    }
  }
}

/** How much an outcome says, for comparison with that of another attempt. */
function rankOf({ outcome, sha256 }: Outcome): number {
  if (outcome === 'archived') return 4;
  if (outcome === 'already-archived') return sha256 === undefined ? 2 : 3;
  return outcome === 'failed' ? 1 : 0;
}
