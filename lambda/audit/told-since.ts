import type { Summary } from '../../archive/format/seal-state';

/** Of each, how much a state names. */
const mostNamed = 50;

/**
 * Puts what an audit has to tell behind what those before it had to, of which people got no mail: a mail tells what is new since
 * the newest seal that was mailed.
 * @param before undefined: people got a mail of the seal before
 */
export function toldSince(before: Summary | undefined, now: Summary): Summary {
  if (before === undefined) return now;
  const sum = (name: 'complete' | 'incomplete' | 'objects' | 'bytes' | 'storedBytes') => before[name] + now[name];
  const counted = <One>(one: Counted<One> | undefined, other: Counted<One> | undefined): Counted<One> => ({
    count: (one?.count ?? 0) + (other?.count ?? 0),
    first: [...(one?.first ?? []), ...(other?.first ?? [])].slice(0, mostNamed),
  });
  const changed = new Map([...before.changed.clusters, ...now.changed.clusters].map((one) => [one.cluster, one]));
  const again = before.changed.clusters.filter(({ cluster }) =>
    now.changed.clusters.some((one) => one.cluster === cluster),
  ).length;
  const left = new Map((before.notCollected?.first ?? []).map((one) => [one.cluster, one.runs]));
  const known = (now.notCollected?.first ?? []).filter(({ cluster }) => left.has(cluster)).length;
  for (const { cluster, runs } of now.notCollected?.first ?? []) left.set(cluster, (left.get(cluster) ?? 0) + runs);
  return {
    ...now,
    complete: sum('complete'),
    incomplete: sum('incomplete'),
    objects: sum('objects'),
    bytes: sum('bytes'),
    storedBytes: sum('storedBytes'),
    lastRun: now.lastRun ?? before.lastRun,
    changed: {
      count: before.changed.count + now.changed.count - again,
      clusters: [...changed.values()].slice(0, mostNamed),
    },
    doubts: counted(before.doubts, now.doubts),
    repaired: counted(before.repaired, now.repaired),
    notCollected: {
      count: (before.notCollected?.count ?? 0) + (now.notCollected?.count ?? 0) - known,
      first: [...left].map(([cluster, runs]) => ({ cluster, runs })).slice(0, mostNamed),
    },
    absent: {
      runs: (before.absent?.runs ?? 0) + (now.absent?.runs ?? 0),
      first: [...(before.absent?.first ?? []), ...(now.absent?.first ?? [])].slice(0, mostNamed),
    },
  };
}

interface Counted<One> {
  readonly count: number;
  readonly first: One[];
}
