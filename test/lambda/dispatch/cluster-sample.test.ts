import { ClusterSample } from '../../../lambda/dispatch/cluster-sample';
import { FairQueue } from '../../../lambda/dispatch/fair-queue';
import { Cluster, type Rank, ranks, Task } from '../../../lambda/dispatch/task';

function clustersOf(count: number): Cluster[] {
  return Array.from({ length: count }, (_, index) => {
    const cluster = new Cluster(`c${index}`);
    for (const resource of ['log', 'manifest'] as const) {
      const task = new Task({ cluster: cluster.uid, resource }, cluster, index);
      cluster.tasks.push(task);
    }
    return cluster;
  });
}

/** A sample of clusters whose tasks all wait. */
function sampleOf(clusters: readonly Cluster[], rankOf: (index: number) => Rank = () => ranks.unattempted) {
  const queue = new FairQueue();
  for (const task of clusters.flatMap(({ tasks }) => tasks)) queue.add(task, rankOf(task.index));
  return new ClusterSample(clusters, queue);
}

/** Picks and marks as asked. */
function pick(sample: ClusterSample): string | undefined {
  const task = sample.unasked();
  if (task === undefined) return undefined;
  task.cluster.isAsked = true;
  return `${task.request.resource} of ${task.cluster.uid}`;
}

/** The indices of so many clusters, in the order in which they are picked. */
function placesOf(count: number): number[] {
  const sample = sampleOf(clustersOf(count));
  return Array.from({ length: count }, () => Number(pick(sample)?.split(' of c')[1]));
}

describe('a sample of the clusters', () => {
  it.each([1, 2, 3, 7, 8, 9, 100, 1000])('of %i items has each once', (count) => {
    const items = Array.from({ length: count }, (_, index) => index);
    expect(placesOf(count).sort((a, b) => a - b)).toEqual(items);
  });

  it('begins in the middle and at the end, and is spread from its beginning on', () => {
    expect(placesOf(300).slice(0, 4)).toEqual([149, 299, 224, 74]);
    const places = placesOf(300)
      .slice(0, 16)
      .sort((a, b) => a - b);
    const gaps = places.slice(1).map((place, index) => place - (places[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(20);
  });

  it('has each cluster that was not asked once, now with one resource and then with the other', () => {
    const clusters = clustersOf(5);
    for (const cluster of clusters.slice(0, 1)) cluster.isAsked = true;
    const sample = sampleOf(clusters);
    const picked = Array.from({ length: 5 }, () => pick(sample));
    expect(picked).toEqual(['manifest of c2', 'log of c4', 'manifest of c3', 'log of c1', undefined]);
    expect(sample.hasUnasked).toBe(false);
  });

  it('begins with clusters of which something was never attempted', () => {
    const clusters = clustersOf(4);
    const sample = sampleOf(clusters, (index) => (index < 2 ? ranks.failedEarlier : ranks.unattempted));
    expect([pick(sample), pick(sample)].map((picked) => picked?.slice(-2)).sort()).toEqual(['c2', 'c3']);
  });

  it('lets the clusters take turns when they are asked again, and keeps to what the service asked for', () => {
    const clusters = clustersOf(3);
    const sample = sampleOf(clusters);
    const [first, second] = clusters;
    if (first) first.pausedUntilMs = 100;
    for (const task of second?.tasks ?? []) task.retryAfterMs = 200;
    const again = (nowMs: number) => sample.again(nowMs)?.cluster.uid;
    expect([again(0), again(0)]).toEqual(['c2', 'c2']);
    expect(new Set([again(100), again(100)])).toEqual(new Set(['c0', 'c2']));
    expect(new Set([again(200), again(200), again(200)])).toEqual(new Set(['c0', 'c1', 'c2']));
  });
});
