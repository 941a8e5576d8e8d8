import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FirstResource } from '../lambda/resources';
import { ArchiveFixture, plainAnswer } from './cli/archive-fixture';

const docs = readFileSync(join(__dirname, '..', 'docs', 'queries.md'), 'utf8');
const [queries = ''] = /(?<=```sql\n)[^`]*read_json[^`]*/.exec(docs) ?? [];
const named = new Map(queries.split(/^-- /m).flatMap((one) => (one === '' ? [] : [splitAtLine(one)])));

const hasDuckdb = spawnSync('duckdb', ['--version']).status === 0;
const itWithDuckdb = hasDuckdb ? it : it.skip;

function splitAtLine(text: string): [string, string] {
  const end = text.indexOf('\n');
  return [text.slice(0, end), text.slice(end + 1)];
}

/** What a query of the documentation finds in a folder. */
function ask(name: string, folder: string): unknown {
  const query = named.get(name)?.replaceAll('s3://my-archive', folder) ?? '';
  const { stdout, stderr, status } = spawnSync('duckdb', ['-json', '-c', query], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`duckdb failed: ${stderr}`);
  return JSON.parse(stdout);
}

it('the documentation has queries for DuckDB', () => {
  expect([...named.keys()]).toEqual([
    'What failed most often',
    'Attempts that did not archive everything',
    'The outcomes of each run: the file joins them',
  ]);
});

itWithDuckdb('DuckDB answers them (skipped where there is no duckdb to run)', async () => {
  const archive = await ArchiveFixture.create();
  const clusters = ['a', 'b'];
  const nine = new Date('2026-11-20T09:00:00.000Z');
  const ten = new Date('2026-11-20T10:00:00.000Z');
  const answer = (cluster: string, resource: FirstResource) =>
    cluster === 'b' ? { failed: 'status 404' } : plainAnswer(cluster, resource);
  await archive.attempt({ run: nine, clusters, answer });
  await archive.attempt({ run: ten, clusters, answer: plainAnswer, trigger: 'manual' });
  expect(ask('What failed most often', archive.folder)).toEqual(
    expect.arrayContaining([
      { cluster: 'b', resource: 'log', error: 'status 404', times: 1 },
      { cluster: 'b', resource: 'manifest', error: 'status 404', times: 1 },
    ]),
  );
  expect(ask('Attempts that did not archive everything', archive.folder)).toEqual([
    { run: nine.toISOString(), attempt: 1, stopped: null, failed: 2 },
  ]);
  const all = [nine, ten].flatMap((run) =>
    clusters.flatMap((cluster) =>
      ['log', 'manifest'].map((resource) => ({
        run: run.toISOString(),
        trigger: run === nine ? 'schedule' : 'manual',
        cluster,
        resource,
        outcome: run === nine && cluster === 'b' ? 'failed' : 'archived',
      })),
    ),
  );
  expect(ask('The outcomes of each run: the file joins them', archive.folder)).toEqual(all);
  await rm(archive.folder, { recursive: true });
});
