import { clockSlackMs, dayMs, earlyRunMs } from './clocks';
import { type ConfiguredCluster, lastOptionalDate } from './configuration';
import { dateOf } from './keys';
import { firstResources } from './resources';

/**
 * What runs collect if the list of clusters comes from outside: joining counts at once, leaving takes days and is told all the
 * while. The collector obeys these rules by {@link inForce}; whoever judges the archive does by {@link mayFollow}.
 */
export interface LeavingRule {
  /**
   * Dates on which a run has to have named a cluster as leaving, and days since the first of them. 0: the clusters are
   * deployed, and who is not among them is gone.
   */
  readonly leaveAfterDays: number;
  /** Uids that are not collected any more, whatever the list says. */
  readonly exclude?: readonly string[] | undefined;
}

/** How long a cluster has been leaving. */
export type Leaving = NonNullable<ConfiguredCluster['leaving']>;

export interface InForce {
  /** What is collected: the list, and behind it the clusters that are leaving. */
  readonly clusters: readonly ConfiguredCluster[];
  /** Uids that were not collected before. */
  readonly joined: readonly string[];
  /** Uids that were leaving for long enough: they are gone. */
  readonly left: readonly string[];
  /** Uids that are gone because the configuration excludes them. */
  readonly excluded: readonly string[];
  /** Uids that became optional, or are so for longer, or lost a resource. */
  readonly lessened: readonly string[];
  /** Uids that could not join: there is no room. */
  readonly waiting: readonly string[];
}

export interface InForceOptions extends LeavingRule {
  /** When the attempt began. */
  readonly at: Date;
  /** Whether the attempt is of a run of all clusters: only such a run's date counts. */
  readonly isOfAll: boolean;
  /** Clusters above which nobody joins, those that are leaving included. */
  readonly most: number;
}

/**
 * What comes after a list.
 * @param list a valid list; undefined: it cannot be used, so that nobody joins, begins to leave or leaves
 * @param before what is collected now; undefined: nothing is known of it, and the list is what is collected
 */
export function inForce(
  list: readonly ConfiguredCluster[] | undefined,
  before: readonly ConfiguredCluster[] | undefined,
  { at, isOfAll, most, leaveAfterDays, exclude = [] }: InForceOptions,
): InForce {
  const isExcluded = new Set(exclude);
  const were = new Map(before?.map((cluster) => [cluster.uid, cluster]));
  const excluded = [...were.keys()].filter((uid) => isExcluded.has(uid));
  const asked = (list ?? asTheyStood(before ?? [], at)).filter(({ uid }) => !isExcluded.has(uid));
  const lists = new Set(asked.map(({ uid }) => uid));
  const staying = asked.filter(({ uid }) => before === undefined || were.has(uid));
  const left: string[] = [];
  const leaving: ConfiguredCluster[] = [];
  for (const cluster of were.values()) {
    const { uid } = cluster;
    if (lists.has(uid) || isExcluded.has(uid)) continue;
    if (isOver(cluster.leaving, leaveAfterDays, at, earlyRunMs)) left.push(uid);
    else leaving.push({ ...cluster, leaving: markedOn(cluster.leaving, at, isOfAll) });
  }
  const joiners = before === undefined ? [] : asked.filter(({ uid }) => !were.has(uid));
  const joined = joiners.slice(0, Math.max(0, most - staying.length - leaving.length));
  const hasJoined = new Set(joined.map(({ uid }) => uid));
  return {
    clusters: [...asked.filter(({ uid }) => before === undefined || were.has(uid) || hasJoined.has(uid)), ...leaving],
    joined: [...hasJoined],
    left,
    excluded,
    lessened: staying.flatMap((cluster) => (isLess(cluster, were.get(cluster.uid)) ? cluster.uid : [])),
    waiting: joiners.slice(joined.length).map(({ uid }) => uid),
  };
}

/** How what is collected changed from one configuration to another, which need not follow each other. */
export type ListChange = Pick<InForce, 'joined' | 'left' | 'lessened'> & {
  /** Those that are leaving, those of them that were not before, and those that were and are not any more. */
  readonly leaving: readonly string[];
  readonly began: readonly string[];
  readonly returned: readonly string[];
};

export function changeOf(before: readonly ConfiguredCluster[], after: readonly ConfiguredCluster[]): ListChange {
  const were = new Map(before.map((cluster) => [cluster.uid, cluster]));
  const are = new Set(after.map(({ uid }) => uid));
  const uidsOf = (clusters: readonly ConfiguredCluster[]) => clusters.map(({ uid }) => uid);
  const leaving = after.filter((cluster) => cluster.leaving !== undefined);
  const wasLeaving = (uid: string) => were.get(uid)?.leaving !== undefined;
  return {
    joined: uidsOf(after.filter(({ uid }) => !were.has(uid))),
    left: uidsOf(before.filter(({ uid }) => !are.has(uid))),
    lessened: uidsOf(after.filter((cluster) => isLess(cluster, were.get(cluster.uid)))),
    leaving: uidsOf(leaving),
    began: uidsOf(leaving.filter(({ uid }) => !wasLeaving(uid))),
    returned: uidsOf(after.filter((cluster) => cluster.leaving === undefined && wasLeaving(cluster.uid))),
  };
}

/** A cluster of a configuration that what came before it does not allow. */
export interface Misstep {
  readonly uid: string;
  /** `gone` before its time; `marker`: it says of its leaving what cannot be. */
  readonly kind: 'gone' | 'marker';
}

/**
 * Whether what is collected may follow what was collected before. The clocks of the two attempts may differ by
 * {@link clockSlackMs}.
 * @param at when the attempt began that collects `after`
 * @returns nothing if it may
 */
export function mayFollow(
  before: Iterable<ConfiguredCluster>,
  after: Iterable<ConfiguredCluster>,
  at: Date,
  { leaveAfterDays, exclude = [] }: LeavingRule,
): Misstep[] {
  const isExcluded = new Set(exclude);
  const were = new Map<string, Leaving | undefined>();
  for (const { uid, leaving } of before) were.set(uid, leaving);
  const are = new Set<string>();
  const missteps: Misstep[] = [];
  for (const { uid, leaving } of after) {
    are.add(uid);
    if (leaving === undefined) continue;
    const was = were.get(uid);
    if (!begins(leaving, at) && !(was !== undefined && goesOn(was, leaving, at)))
      missteps.push({ uid, kind: 'marker' });
  }
  for (const [uid, leaving] of were) {
    if (are.has(uid) || isExcluded.has(uid)) continue;
    if (!isOver(leaving, leaveAfterDays, at, earlyRunMs + clockSlackMs)) missteps.push({ uid, kind: 'gone' });
  }
  return missteps;
}

/** Whether less is asked of a cluster than before. */
function isLess(cluster: ConfiguredCluster, before: ConfiguredCluster | undefined): boolean {
  if (before === undefined) return false;
  const { resources = firstResources } = cluster;
  return (
    // Whether the date has passed does not count: a run of an earlier time may still be completed.
    lastOptionalDate(cluster) > lastOptionalDate(before) ||
    (before.resources ?? firstResources).some((name) => !resources.includes(name))
  );
}

/** Clusters with their markers, but for those that somebody made up. */
function asTheyStood(clusters: readonly ConfiguredCluster[], at: Date): readonly ConfiguredCluster[] {
  return clusters.map((cluster) =>
    cluster.leaving !== undefined && isFuture(cluster.leaving, at)
      ? { ...cluster, leaving: markedOn(undefined, at, false) }
      : cluster,
  );
}

/** The marker of an attempt that does not find the cluster on the list. */
function markedOn(before: Leaving | undefined, at: Date, isOfAll: boolean): Leaving {
  const today = dateOf(at);
  // What lies in the future somebody made up: it would keep the cluster for ever.
  const { since, dates, last } =
    before === undefined || isFuture(before, at) ? { since: at.toISOString(), dates: 0, last: undefined } : before;
  return isOfAll && (last === undefined || today > last)
    ? { since, dates: dates + 1, last: today }
    : { since, dates, ...(last !== undefined && { last }) };
}

function isOver(leaving: Leaving | undefined, days: number, at: Date, slackMs: number): boolean {
  if (days === 0) return true;
  if (leaving === undefined || isFuture(leaving, at)) return false;
  return leaving.dates >= days && at.getTime() - Date.parse(leaving.since) >= days * dayMs - slackMs;
}

function isFuture({ since, last = '' }: Leaving, at: Date): boolean {
  return Date.parse(since) > at.getTime() + clockSlackMs || last > dateOf(shifted(at, clockSlackMs));
}

/** Whether a marker is that of a cluster which begins to leave. */
function begins({ since, dates, last }: Leaving, at: Date): boolean {
  const isNow = Math.abs(Date.parse(since) - at.getTime()) <= clockSlackMs;
  return isNow && (dates === 0 ? last === undefined : dates === 1 && isToday(last, at));
}

/** Whether a marker may follow one before it. */
function goesOn(was: Leaving, is: Leaving, at: Date): boolean {
  if (isFuture(was, at) || isFuture(is, at) || is.since < was.since) return false;
  const [last, lastBefore] = [is.last ?? '', was.last ?? ''];
  if (is.dates > was.dates) return is.dates === was.dates + 1 && last > lastBefore && isToday(is.last, at);
  return last >= lastBefore;
}

/** Whether a date is that of a time, by a clock that may be wrong. */
function isToday(date: string | undefined, at: Date): boolean {
  return date !== undefined && date >= dateOf(shifted(at, -clockSlackMs)) && date <= dateOf(shifted(at, clockSlackMs));
}

function shifted(at: Date, byMs: number): Date {
  return new Date(at.getTime() + byMs);
}
