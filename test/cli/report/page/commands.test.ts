import { mkdtemp, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandsOf } from '../../../../cli/report/page/commands';
import { ArchiveFixture, logRecord } from '../../archive-fixture';
import { runCollector } from '../../run-collector';

const hour = (at: number) => new Date(Date.UTC(2026, 10, 20, at));

/** The arguments of a command line as a shell reads it. */
function shellWords(line: string): string[] {
  const words = [...line.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g)];
  return words.map(([word]) => word.replace(/'([^']*)'|\\(.)/g, '$1$2'));
}

async function run(line: string) {
  const words = shellWords(line);
  expect(words.slice(0, words.indexOf('--'))).toEqual(expect.arrayContaining(['npm', 'run', 'collector']));
  return runCollector(words.slice(words.indexOf('--') + 1));
}

describe('the commands of the report', () => {
  it.each([
    'plain',
    "it's a 'quoted' one",
    '--looks-like-an-option',
  ])('work as they stand, for cluster %s', async (uid) => {
    const archive = await ArchiveFixture.create();
    for (const at of [8, 9])
      await archive.attempt({
        run: hour(at),
        clusters: [uid],
        answer: (_, resource) => ({ content: resource === 'log' ? logRecord(uid, `log ${at}`) : `replicas: ${at}\n` }),
      });
    const folder = join(await mkdtemp(join(tmpdir(), 'collector-report-')), "it's an archive");
    await rename(archive.folder, folder);
    const commands = commandsOf(folder);
    const time = hour(9).toISOString();
    expect(await run(commands.change(uid, time))).toMatchObject({
      code: 1,
      out: expect.stringContaining('-replicas: 8\n+replicas: 9'),
    });
    expect((await run(commands.changes(time))).out).toMatch(/^2026-11-20T09:00:00Z changed: 1 cluster: /);
    expect(await run(commands.content(uid, 'log', time))).toMatchObject({ code: 0, out: 'log 9' });
    expect(await run(commands.content(uid, 'manifest', time))).toMatchObject({ code: 0, out: 'replicas: 9\n' });
    expect(await run(commands.outcomes(time))).toMatchObject({ code: 0, out: expect.stringContaining('2 of 2') });
  });

  it('name the run that is to be completed', () => {
    expect(commandsOf('s3://a').complete(hour(9).toISOString())).toBe(
      'npm run collector -- run --stack NAME --run 2026-11-20T09:00:00Z',
    );
  });
});
