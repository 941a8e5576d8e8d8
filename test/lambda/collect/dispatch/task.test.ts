import { firstResources } from '../../../../archive/format/resources';
import { shuffledTasks } from '../../../../lambda/collect/dispatch/task';

const requests = Array.from({ length: 200 }, (_, index) => `c${index}`).flatMap((cluster) =>
  firstResources.map((resource) => ({ cluster, resource })),
);
const order = (seed: string) => shuffledTasks(requests, seed).map(({ index }) => index);

describe('the order in which tasks are asked for', () => {
  it('is the same for one run, and another one for the next', () => {
    expect(order('10:00')).toEqual(order('10:00'));
    expect(order('10:00')).not.toEqual(order('11:00'));
    expect(order('10:00').sort((a, b) => a - b)).toEqual(requests.map((_, index) => index));
  });

  it('keeps the resources of a cluster together, and begins with each of them in turn', () => {
    const clusters = order('10:00').map((index) => requests[index]?.cluster);
    for (let at = 0; at < clusters.length; at += firstResources.length)
      expect(new Set(clusters.slice(at, at + firstResources.length)).size).toBe(1);
    const firsts = order('10:00').filter((_, at) => at % firstResources.length === 0);
    for (const resource of firstResources)
      expect(firsts.filter((index) => requests[index]?.resource === resource).length).toBeGreaterThan(50);
  });

  it('has of any ten clusters in a row no more than a sample from the first tenth of the list', () => {
    for (const seed of ['10:00', '11:00', '12:00']) {
      const places = [...new Set(order(seed).map((index) => Math.floor(index / firstResources.length)))];
      for (let at = 0; at + 10 <= places.length; at += 1)
        expect(places.slice(at, at + 10).filter((place) => place < 20).length).toBeLessThan(7);
    }
  });
});
