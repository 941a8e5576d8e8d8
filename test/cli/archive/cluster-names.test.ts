import fc from 'fast-check';
import { clusterFilter } from '../../../cli/archive/cluster-names';
import { rounds } from '../../support/rounds';

const uid = fc.array(fc.constantFrom('a', 'b', '.', '😀'), { maxLength: 8 }).map((characters) => characters.join(''));
const glob = fc.array(fc.constantFrom('a', 'b', '.', '😀', '*', '?'), { maxLength: 8 }).map((parts) => parts.join(''));

describe('a filter of clusters', () => {
  it('matches what the same regular expression matches', () => {
    fc.assert(
      fc.property(glob, uid, (pattern, cluster) => {
        const source = pattern.replace(/\./g, '\\.').replace(/\*/g, '.*').replace(/\?/g, '.');
        expect(clusterFilter(pattern).matches(cluster)).toBe(new RegExp(`^${source}$`, 'su').test(cluster));
      }),
      rounds(2000),
    );
  });

  it('takes every other character as it is', () => {
    const odd = 'constructor[a](b){1}+^$|\\E\\Q\n';
    expect(clusterFilter(`${odd}*`).matches(`${odd}-1`)).toBe(true);
    expect(clusterFilter('[ab]*').matches('a')).toBe(false);
  });

  it('knows the cluster that it names', () => {
    expect(clusterFilter('prod-1').uid).toBe('prod-1');
    expect(clusterFilter('prod-?').uid).toBeUndefined();
  });

  it('takes no time to speak of, however many stars a pattern has', () => {
    expect(clusterFilter('*a'.repeat(100)).matches('a'.repeat(99))).toBe(false);
    expect(clusterFilter('*a'.repeat(60).concat('*b')).matches('a'.repeat(200))).toBe(false);
  });
});
