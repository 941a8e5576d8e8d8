import { createHash } from 'node:crypto';
import type { ClusterListSource, ConfiguredCluster } from './configuration';
import { firstResources } from './resources';

/** A list of clusters as somebody wrote it. */
export interface WrittenList {
  readonly clusters: readonly ConfiguredCluster[];
  /** Consents to a removal: {@link hashOfLeaving} of exactly the clusters that leave. */
  readonly leaving?: string | undefined;
}

/** What the clusters of an attempt are judged by. */
export interface ListsBefore {
  /** What runs collect now; undefined: no run has collected anything yet. */
  readonly inForce: readonly ConfiguredCluster[] | undefined;
  /** The largest list in force of the last 24 hours; undefined: there is none beside the one that is in force now. */
  readonly largest: readonly ConfiguredCluster[] | undefined;
}

export interface NextList {
  /** What is collected. */
  readonly clusters: readonly ConfiguredCluster[];
  /** Uids that leave, sorted. */
  readonly left: readonly string[];
  /** Uids that may not leave without consent, sorted. They are collected as before. */
  readonly withheld: readonly string[];
  /** Whether the list consents to something else than what it needs consent for. */
  readonly isConsentIdle: boolean;
}

/** So many clusters may leave in a day whatever their share is. */
export const fewestRemovable = 3;

/** How long a list counts for what may leave. */
export const removalHours = 24;

/**
 * What comes after a valid list, from the list in force: additions count at once, removals up to a share. What is wrong never
 * gets here, so that no list is replaced by something that is not one.
 */
export function nextList(
  { inForce = [], largest: before = [] }: ListsBefore,
  { clusters, leaving }: WrittenList,
  { maxRemovedPercent }: Pick<ClusterListSource, 'maxRemovedPercent'>,
): NextList {
  const leavers = leaversOf(inForce, clusters);
  const largest = before.length > inForce.length ? before : inForce;
  const most = mostRemovable(largest.length, maxRemovedPercent);
  const isMuch = leavers.length > 0 && Math.max(leavers.length, leaversOf(largest, clusters).length) > most;
  const isConsented = leaving !== undefined && leaving === hashOfLeaving(leavers);
  const isConsentIdle = leaving !== undefined && !(isMuch && isConsented);
  if (!isMuch || isConsented) return { clusters, left: leavers, withheld: [], isConsentIdle };
  const kept = new Map(inForce.map((cluster) => [cluster.uid, cluster]));
  const isWithheld = new Set(leavers);
  const staying = clusters.filter(({ uid }) => !isWithheld.has(uid));
  const withheld = leavers.flatMap((uid) => kept.get(uid) ?? []);
  return { clusters: [...staying, ...withheld], left: [], withheld: leavers, isConsentIdle };
}

/** How many of a list's clusters may leave within {@link removalHours} without consent. */
export function mostRemovable(clusters: number, maxRemovedPercent: number): number {
  return Math.max(fewestRemovable, Math.floor((clusters * maxRemovedPercent) / 100));
}

/**
 * Uids that leave from one list to another, in the order of their bytes. A cluster that becomes optional, or loses a resource,
 * leaves too: less of it is promised than before.
 */
export function leaversOf(before: readonly ConfiguredCluster[], after: readonly ConfiguredCluster[]): string[] {
  const left = new Map(after.map((cluster) => [cluster.uid, cluster]));
  const leavers = before.filter(({ uid, optional, resources = firstResources }) => {
    const now = left.get(uid);
    if (now === undefined || (now.optional === true && optional !== true)) return true;
    return resources.some((name) => !(now.resources ?? firstResources).includes(name));
  });
  return leavers.map(({ uid }) => uid).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** What `LC_ALL=C sort | sha256sum` says of the uids that leave, one a line. */
export function hashOfLeaving(sorted: readonly string[]): string {
  return createHash('sha256')
    .update(sorted.map((uid) => `${uid}\n`).join(''))
    .digest('hex');
}
