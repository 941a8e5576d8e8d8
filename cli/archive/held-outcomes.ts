import { type ObjectName, parseObjectKey } from '../../archive/format/keys';
import { isStored, type RunOutcome } from '../../archive/format/run-record';
import { GoneObjects } from '../../archive/prove';
import {
  type ClusterRecord,
  firstOf,
  mapAll,
  type Period,
  Presence,
  type Run,
  readClusterRecord,
  runsBetween,
} from '../../archive/read';
import type { WithClusterChange } from '../terminal/cluster-change';
import type { OpenedArchive } from './open-archive';
import type { Remark } from './recorded-object';

/** What became of one cluster x resource in a run, by its records and by what lies there together. */
export interface HeldOutcome extends Omit<RunOutcome, 'outcome'> {
  /**
   * `missing`: a record says that it was archived, and it is not there. `expired`: the same, and the lifecycle may have removed
   * it. The others are as recorded.
   */
  readonly outcome: RunOutcome['outcome'] | 'missing' | 'expired';
}

export type SelectedRun = Run & WithClusterChange;

/** A run, or a selection of its outcomes, held against what lies there. */
export type Held<Asked> = Omit<Asked, 'outcomes'> & { readonly outcomes: readonly HeldOutcome[] };

export type HeldRun = Held<SelectedRun>;

/** Whether a record says that it was archived, wherever it is now. */
export function wasArchived({ outcome }: Pick<HeldOutcome, 'outcome'>): boolean {
  return isStored({ outcome }) || outcome === 'missing' || outcome === 'expired';
}

/** Whether it is archived, or was until its retention was over: nobody misses it. */
export function isStoredOrExpired({ outcome }: Pick<HeldOutcome, 'outcome'>): boolean {
  return isStored({ outcome }) || outcome === 'expired';
}

/** Most outcomes of one run whose objects are looked for, where only a few of them are shown. */
const mostHeld = 20_000;

/** Listings under way at once. */
const listingsAtOnce = 16;

/**
 * Holds what records say against what lies there: whoever shows an outcome takes it from here.
 * Every method @throws ArchiveReadError if the archive cannot be read
 */
export class HeldOutcomes {
  /** How many objects are shown as recorded: whether they are there was not looked at. */
  notLookedAt = 0;
  /** What a record says was archived, and is not there. */
  readonly missing: Remark[] = [];
  readonly #archive: OpenedArchive['archive'];
  readonly #gone: GoneObjects;
  /** What lies there of the runs that were announced last. */
  #presence: Presence;

  constructor({ archive, now }: Pick<OpenedArchive, 'archive' | 'now'>) {
    this.#archive = archive;
    this.#gone = new GoneObjects(archive, now);
    this.#presence = new Presence(archive, {});
  }

  /** Announces the runs that are read from now on: listings begin and end with them. */
  lookWithin(period: Period): void {
    this.#presence = new Presence(this.#archive, period);
  }

  /** @param run whose records say it */
  outcome(run: Pick<ClusterRecord, 'records'>, recorded: RunOutcome): HeldOutcome | Promise<HeldOutcome> {
    const { key = '' } = recorded;
    const name = isStored(recorded) ? parseObjectKey(key) : undefined;
    if (name === undefined) return recorded;
    const isThere = this.#presence.has(name, key);
    return isThere === true ? recorded : this.#judge(run, recorded, name, isThere);
  }

  async #judge(
    { records }: Pick<ClusterRecord, 'records'>,
    recorded: RunOutcome,
    name: ObjectName,
    isThere: boolean | Promise<boolean>,
  ): Promise<HeldOutcome> {
    if (await isThere) return recorded;
    const { key, httpStatus, ...own } = recorded;
    const missing = await this.#gone.judge(name, recorded, records);
    if (missing === undefined) return { ...own, key, outcome: 'expired', error: 'the lifecycle has removed it since' };
    this.missing.push(missing);
    return { ...own, key, outcome: 'missing', error: missing.problem };
  }

  /** Of a fleet whose listings would take minutes the outcomes stay as recorded, and {@link notLookedAt} says so. */
  async run<Asked extends Pick<SelectedRun, 'records' | 'outcomes'>>(run: Asked): Promise<Held<Asked>> {
    if (run.outcomes.length > mostHeld) {
      this.notLookedAt += run.outcomes.filter(isStored).length;
      return run;
    }
    const outcomes = await mapAll(run.outcomes, listingsAtOnce, (recorded) => this.outcome(run, recorded));
    return { ...run, outcomes };
  }

  /** Whether an object of the announced runs lies there. */
  isThere(name: ObjectName): boolean | Promise<boolean> {
    return this.#presence.has(name);
  }

  /** Judges an object that is not there; undefined: no record says that it was archived, or the lifecycle may have removed it. */
  async goneAt(name: ObjectName): Promise<Remark | undefined> {
    const { run, cluster, resource } = name;
    const listed = await firstOf(runsBetween(this.#archive, { from: run, to: run }));
    const record = listed && (await readClusterRecord(this.#archive, listed, cluster));
    const outcome = record?.outcomes.find((one) => one.resource === resource);
    const isNamed = record !== undefined && outcome !== undefined && isStored(outcome);
    return isNamed ? this.#gone.judge(name, outcome, record.records) : undefined;
  }
}
