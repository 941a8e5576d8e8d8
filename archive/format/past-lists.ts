import { dayMs, hourMs } from './clocks';
import type { ConfiguredCluster } from './configuration';
import { dateOf, type RunRecordName, runPrefix, runsPrefix } from './keys';
import { removalHours } from './next-list';
import type { RecordHead } from './run-record';

/** What a run collected, by one of its records. */
export interface PastList {
  readonly head: RecordHead;
  readonly clusters: readonly ConfiguredCluster[];
}

/** What is read of an archive. What is absent or damaged is undefined. */
export interface PastRecords {
  names(prefix: string): Promise<readonly RunRecordName[]>;
  /** The first line of a run record. */
  head(name: RunRecordName): Promise<RecordHead | undefined>;
  /** Those of a configuration. */
  clusters(sha256: string): Promise<readonly ConfiguredCluster[] | undefined>;
}

/**
 * The lists of clusters of earlier runs, by the first lines of their records and by the configurations that these name. Every
 * method throws what breaks a reading off: then nobody knows which list is in force.
 */
export class PastLists {
  readonly #records: PastRecords;

  constructor(records: PastRecords) {
    this.#records = records;
  }

  /** Of the newest run that is not later than a time; undefined: no record of any can be read. */
  newest(now: Date): Promise<PastList | undefined> {
    return this.#first(this.namesBefore(now));
  }

  /** Of the newest record of a run; undefined: none can be read. */
  async ofRun(run: Date): Promise<PastList | undefined> {
    return this.#first(newestFirst(await this.#records.names(runPrefix(run))));
  }

  /**
   * The largest of the lists that were in force within {@link removalHours} before a time; undefined: there was none.
   * @param isThere whether a record was there at that time
   */
  async largest(now: Date, isThere: (head: RecordHead) => boolean = () => true): Promise<PastList | undefined> {
    const attempts = new Map<string, RunRecordName>();
    for await (const name of this.namesBefore(now)) {
      if (now.getTime() - name.run.getTime() > removalHours * hourMs) break;
      // The shards of an attempt have one list, unless it changed meanwhile.
      attempts.set(`${name.run.getTime()} ${name.attempt}`, name);
    }
    const heads = await Promise.all([...attempts.values()].map((name) => this.#records.head(name)));
    const there = heads.flatMap((head) => (head !== undefined && isThere(head) ? head : []));
    let largest: PastList | undefined;
    for (const head of new Map(there.map((one) => [one.configuration, one])).values()) {
      const clusters = await this.#records.clusters(head.configuration);
      if (clusters !== undefined && clusters.length > (largest?.clusters.length ?? 0)) largest = { head, clusters };
    }
    return largest;
  }

  /** The run records up to a time, newest run first, and of a run the last attempt first. */
  async *namesBefore(now: Date): AsyncGenerator<RunRecordName> {
    const yesterday = dateOf(new Date(now.getTime() - dayMs));
    let before = now.getTime() + 1;
    // Then the month, the year and all: most archives have a run of today, and to list the others takes long.
    for (const date of [dateOf(now), yesterday, yesterday.slice(0, 8), yesterday.slice(0, 5), '']) {
      const names = await this.#records.names(`${runsPrefix}date=${date}`);
      const found = newestFirst(names.filter(({ run }) => run.getTime() < before));
      yield* found;
      before = found.at(-1)?.run.getTime() ?? before;
    }
  }

  async #first(names: AsyncIterable<RunRecordName> | Iterable<RunRecordName>): Promise<PastList | undefined> {
    for await (const name of names) {
      const head = await this.#records.head(name);
      if (head === undefined) continue;
      const clusters = await this.#records.clusters(head.configuration);
      if (clusters !== undefined) return { head, clusters };
    }
    return undefined;
  }
}

function newestFirst(names: readonly RunRecordName[]): RunRecordName[] {
  const index = ({ shard }: RunRecordName) => shard?.index ?? -1;
  return names.toSorted((a, b) => b.run.getTime() - a.run.getTime() || b.attempt - a.attempt || index(b) - index(a));
}
