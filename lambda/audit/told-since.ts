import type { Counted } from '../../archive/format/counted';
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
  return {
    ...now,
    complete: sum('complete'),
    incomplete: sum('incomplete'),
    objects: sum('objects'),
    bytes: sum('bytes'),
    storedBytes: sum('storedBytes'),
    read: {
      objects: before.read.objects + now.read.objects,
      old: before.read.old + now.read.old,
      bytes: before.read.bytes + now.read.bytes,
    },
    lastRun: now.lastRun ?? before.lastRun,
    changed: ofClusters(before.changed, now.changed, (_, one) => one),
    unusual: ofClusters(before.unusual, now.unusual, (_, one) => one),
    doubts: both(before.doubts, now.doubts),
    repaired: both(before.repaired, now.repaired),
    notCollected: ofClusters(before.notCollected, now.notCollected, (one, other) => ({
      ...other,
      runs: one.runs + other.runs,
    })),
    absent: both(before.absent, now.absent),
  };
}

function both<One>(before: Counted<One>, now: Counted<One>): { count: number; first: One[] } {
  return { count: before.count + now.count, first: [...before.first, ...now.first].slice(0, mostNamed) };
}

/** The same of clusters: one that both name counts once. @param merge puts together what both say of one */
function ofClusters<One extends { readonly cluster: string }>(
  before: Counted<One>,
  now: Counted<One>,
  merge: (before: One, now: One) => One,
): { count: number; first: One[] } {
  const known = new Map(before.first.map((one) => [one.cluster, one]));
  const again = now.first.filter(({ cluster }) => known.has(cluster)).length;
  for (const one of now.first) {
    const earlier = known.get(one.cluster);
    known.set(one.cluster, earlier === undefined ? one : merge(earlier, one));
  }
  return { count: before.count + now.count - again, first: [...known.values()].slice(0, mostNamed) };
}
