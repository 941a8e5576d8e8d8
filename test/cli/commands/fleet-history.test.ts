import { ArchiveFixture, type AttemptFixture, hour, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

/** Versions at 8, 9, 10, 11 and 12 o'clock; `-`: it failed. */
const versions: Record<string, string> = {
  'and-back': 'AABAA',
  'failed-before': 'A-BBB',
  'same-after-failure': 'A-AAA',
  new: '??ABB',
};

describe('history --all', () => {
  let archive: ArchiveFixture;

  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    for (const [index, at] of [8, 9, 10, 11, 12].entries()) {
      const answer: AttemptFixture['answer'] = (cluster, resource) => {
        const version = versions[cluster]?.[index] ?? '?';
        if (version === '-') return { failed: 'no answer' };
        return { content: resource === 'log' ? logRecord(cluster, `at ${at}`) : `${cluster} ${version}\n` };
      };
      const clusters = Object.keys(versions).filter((cluster) => versions[cluster]?.[index] !== '?');
      await archive.attempt({ run: hour(at), clusters, answer });
    }
  });

  const history = (...args: string[]) => runCollector(['history', '--archive', archive.folder, ...args]);
  const changes = async (...args: string[]) =>
    JSON.parse((await history('--all', '--json', ...args)).out).map(
      ({ run, cluster, change }: Record<string, string>) => `${run?.slice(11, 13)} ${cluster} ${change}`,
    );

  it('has each change once, also what was changed back and what failed in between', async () => {
    expect(await changes()).toEqual([
      '08 and-back first',
      '08 failed-before first',
      '08 same-after-failure first',
      '10 and-back changed',
      '10 failed-before changed',
      '10 new first',
      '11 and-back changed',
      '11 new changed',
    ]);
  });

  it('of a period compares its first content with that before it, however far back', async () => {
    expect(await changes('--from', '2026-11-20T10:00')).toEqual((await changes()).slice(3));
    expect(await changes('--from', '2026-11-20T11:00', '--to', '2026-11-20T11:00')).toEqual([
      '11 and-back changed',
      '11 new changed',
    ]);
    expect(await changes('--last', '1')).toEqual([]);
  });

  it('has a line per run, the newest first', async () => {
    const from = ['--all', '--from', '2026-11-20T10:00'];
    expect(await history(...from)).toEqual({
      code: 0,
      out: [
        '2026-11-20T11:00:00Z changed: 2 clusters: and-back, new',
        '2026-11-20T10:00:00Z first: 1 cluster: new',
        '2026-11-20T10:00:00Z changed: 2 clusters: and-back, failed-before',
        '',
      ].join('\n'),
      err: '4 changes in the manifests of 3 runs from 2026-11-20T10:00:00Z up to 2026-11-20T12:00:00Z.\n',
    });
    const { out, err } = await history(...from, '--limit', '1');
    expect(out).toBe('2026-11-20T11:00:00Z changed: 2 clusters: and-back, new\n');
    expect(err).toContain('The list stopped after 1 of 3; --limit sets how many.');
  });

  it('takes a pattern of clusters, and logs too', async () => {
    expect(await changes('*-back')).toEqual(['08 and-back first', '10 and-back changed', '11 and-back changed']);
    expect(await changes('new', '--resource', 'log')).toEqual(['10 new first', '11 new changed', '12 new changed']);
  });
});
