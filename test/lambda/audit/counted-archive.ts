import { setMaxListeners } from 'node:events';
import { runRecordKey } from '../../../archive/format/keys';
import { checkObject } from '../../../archive/prove/check-object';
import { SealChain } from '../../../archive/prove/seals/seal-chain';
import type { ListedName, ListedObject } from '../../../archive/read/archive-reader';
import { dueFrom, type Work } from '../../../lambda/audit/agenda';
import { auditWorld } from '../../../lambda/audit/audit-world';
import { Findings } from '../../../lambda/audit/findings';
import { walk } from '../../../lambda/audit/walk';
import { MadeUpArchive } from './made-up-archive';

/** Counts the answers of S3 to listings of objects: 1,000 keys or names each. */
export class CountedArchive extends MadeUpArchive {
  answers = 0;
  keys = 0;

  override async *list(prefix: string, after?: string): AsyncGenerator<ListedObject> {
    if (!/^(logs|manifests)/.test(prefix)) return yield* super.list(prefix, after);
    let listed = 0;
    for await (const object of super.list(prefix, after)) {
      if (listed % 1000 === 0) this.answers += 1;
      listed += 1;
      this.keys += 1;
      yield object;
    }
  }

  override async *listNames(prefix: string): AsyncGenerator<ListedName> {
    this.answers += Math.ceil(this.clusters.length / 1000);
    yield* super.listNames(prefix);
  }
}

/** Goes through a pass. @param times of the runs @returns what is left of it */
export async function passOver(
  archive: CountedArchive,
  times: readonly number[],
  what: 'listing' | 'reading' = 'listing',
): Promise<readonly Work[]> {
  const { now } = archive;
  const stop = new AbortController().signal;
  setMaxListeners(0, stop);
  const world = auditWorld({ archive, chain: new SealChain({}, () => undefined), now, plan: {}, stop });
  const runs = new Map(times.map((time) => [time, 1]));
  const left = await walk([dueFrom(what, now)], world, {
    ...{ stop, findings: new Findings(), observers: [], rereadDays: undefined, runs, checkNew: checkObject },
  });
  return left.filter(({ isDone }) => !isDone);
}

/** A year of hourly runs that is computed: each listing of a cluster is counted, and each run record that is read. */
class ComputedYear extends CountedArchive {
  readonly times: readonly number[];
  records = 0;

  constructor(clusters: number) {
    super({ clusters, runs: 0 });
    this.times = Array.from({ length: 8760 }, (_, hour) => this.now.getTime() - (8760 - hour) * 3_600_000);
  }

  /** Of a cluster, a stretch is one answer: the cases above list their keys. */
  override async *list(prefix: string, after = ''): AsyncGenerator<ListedObject> {
    if (/^(logs|manifests)/.test(prefix)) this.answers += 1;
    for (const time of prefix === 'runs/' ? this.times : []) {
      const key = runRecordKey({ run: new Date(time), attempt: 1 });
      if (key > after) yield { key, storedBytes: 1, writtenAt: new Date(time) };
    }
  }

  override async open(): Promise<undefined> {
    this.records += 1;
  }
}

/**
 * Listings and run records read in a pass over a year: each once more by its first line, because none is there when it is
 * opened, and only the configurations of all runs tell whether it has expired.
 */
export async function countsOfYear(clusters: number, kind: 'listing' | 'reading') {
  const year = new ComputedYear(clusters);
  const left = await passOver(year, year.times, kind);
  return { left, listings: year.answers, records: year.records };
}
