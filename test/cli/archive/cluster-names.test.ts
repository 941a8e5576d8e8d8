import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { firstResources } from '../../../archive/format/resources';
import { clusterFilter } from '../../../cli/archive/cluster-names';
import { newFolder } from '../../support/new-folder';
import { rounds } from '../../support/rounds';
import { ArchiveFixture, hour, keyOf, plainAnswer } from '../archive-fixture';
import { runCollector } from '../run-collector';

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

describe('a misspelt uid', () => {
  let archive: ArchiveFixture;
  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    await archive.attempt({ run: hour(9), clusters: ['prod-1', 'prod-2'], answer: plainAnswer });
  });

  it.each([
    ['show', 'pord-1'],
    ['diff', 'pord-1'],
    ['history', 'pord-1'],
    ['log', 'pord-1'],
    ['log', 'pord-1', '--seams'],
    ['grep', 'x', '--cluster', 'pord-1'],
    ['list', '--cluster', 'pord-1'],
    ['list', '--cluster', 'pord-1', '--json'],
    ['list', '--cluster', 'pord-1', '--failed'],
    ['runs', '--cluster', 'pord-1'],
    ['runs', '--cluster', 'pord-1', '--json'],
    ['verify', '--cluster', 'pord-1'],
    ['export', '--cluster', 'pord-1', '--out', 'OUT'],
  ])('ends %s %s %s %s with 3, and the nearest names are said', async (...args) => {
    const out = args.includes('OUT') ? join(newFolder(), 'out') : '';
    const typed = args.map((arg) => (arg === 'OUT' ? out : arg));
    const { code, err } = await runCollector([...typed, '--archive', archive.folder]);
    expect([code, err]).toEqual([3, expect.stringContaining('the nearest names: prod-1')]);
    expect(err).not.toContain('did not cover it\n');
  });

  it('may be a pattern for runs, which has a line for each cluster that it matches', async () => {
    const runs = (glob: string) => runCollector(['runs', '--cluster', glob, '--archive', archive.folder]);
    const { code, out } = await runs('prod-*');
    const said = (uid: string) => `${uid}: archived by the run 2026-11-20T09:00:00Z and all before it here.\n`;
    expect([code, out]).toEqual([0, said('prod-1') + said('prod-2')]);
    expect(await runs('dev-*')).toMatchObject({ code: 3, err: expect.stringContaining('no record of the run') });
  });

  it('is said to be no pattern where a command takes one uid', async () => {
    const { code, err } = await runCollector(['verify', '--cluster', 'prod-*', '--archive', archive.folder]);
    expect([code, err]).toEqual([3, 'Cluster prod-*: --cluster takes one uid here\n']);
  });

  it('is refused as a pattern for a part, of which all would be more than was asked for, but not as a uid', async () => {
    const part = async (uid: string) => {
      const args = ['verify', '--part', '--cluster', uid, '--archive', archive.folder];
      const { code, out, err } = await runCollector(args);
      return { code, out, err };
    };
    const refused = 'error: --part --cluster prod-*: expected one uid; a part is of one cluster\n';
    expect(await part('prod-*')).toMatchObject({ code: 2, out: '', err: expect.stringContaining(refused) });
    expect(await part('pord-1')).toMatchObject({ code: 1, err: 'Cluster pord-1: the nearest names: prod-1\n' });
    await archive.attempt({ run: hour(10), clusters: ['what?'], answer: plainAnswer });
    expect(await part('what?')).toMatchObject({
      code: 1,
      err: '',
      out: expect.stringContaining('PART: cluster what?'),
    });
    for (const resource of firstResources) await rm(join(archive.folder, keyOf(resource, 'what?', hour(10))));
    expect((await part('what?')).out).toMatch(/^missing: /m);
  });
});
