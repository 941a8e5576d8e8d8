import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../support/new-folder';
import { runCollector } from '../run-collector';
import { runStart, writeStartConfig } from '../run-start';

const fleet = Array.from({ length: 8 }, (_, index) => `c-${index}`);

const folder = newFolder();
const archive = join(folder, 'archive');
let config: string;
/** What four starts printed: a list, one that changed, one without most clusters, and one that is not valid. */
const printed: string[] = [];
const codes: number[] = [];

beforeAll(async () => {
  config = await writeStartConfig(folder, { clusters: { from: 's3://inventory/fleet.json' } });
  for (const list of [fleet, [...fleet.slice(1), 'new'], ['new'], ['', 'new']]) {
    writeFileSync(join(folder, 'list.json'), JSON.stringify(list));
    const { code, out, err } = await start('--cluster-list', join(folder, 'list.json'));
    printed.push(out + err);
    codes.push(code);
  }
}, 60_000);

const start = (...args: string[]) => runStart(['--config', config, '--folder', archive, ...args]);
const collector = (...args: string[]) => runCollector([...args, '--archive', archive], { now: new Date() });

describe('npm start with a list of clusters from outside', () => {
  it('shows who joined and who is leaving, and a refused list', () => {
    expect(codes).toEqual([0, 0, 0, 1]);
    expect(printed[0]).not.toMatch(/clusters: [+−]|refused/);
    expect(printed[1]).toContain('+1 −0 clusters: +new; 1 leaving: c-0');
    expect(printed[2]).toContain('8 leaving: c-1, ');
    expect(printed[3]).toContain('it is not valid:\n  [0]: received "", expected a uid that is not empty');
    expect(printed[3]).toMatch(/: complete after 3 attempts, worked .*; 18 of 18 archived/);
    expect(printed[3]).not.toContain('Complete the run');
  });

  it('needs a file that stands for the list, and a list that it stands for', async () => {
    expect(await start()).toMatchObject({ code: 2, err: expect.stringContaining('--cluster-list FILE') });
    expect(await start('--cluster-list', join(folder, 'none'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('failed: ENOENT'),
    });
  });
});

describe('what reads the archive says of the list', () => {
  it('runs: at the run where it changed, and at those whose list was refused, with why', async () => {
    const { out } = await collector('runs');
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /complete; \+1 −0 clusters: \+new; 1 leaving: c-0 .* complete; 8 leaving: .*complete; 8 leaving: .*; list of clusters refused/,
    );
    const rows = JSON.parse((await collector('runs', '--json')).out);
    expect(rows[1].clusters).toMatchObject({ joined: ['new'], leaving: ['c-0'], read: { isInForce: true } });
    const one = await collector('runs', rows[3].run);
    expect(one.out).toContain('The list of clusters s3://inventory/fleet.json is not wholly in force since ');
    expect(one.out).not.toContain('Complete it with');
  });

  it('runs --cluster and list --cluster: since when it is leaving', async () => {
    const left = /c-0 is leaving since 20\d\d-/;
    expect((await collector('runs', '--cluster', 'c-0')).out).toMatch(left);
    expect((await collector('list', '--cluster', 'c-0')).err).toMatch(left);
    expect((await collector('runs', '--cluster', 'new')).out).not.toMatch(/leaving/);
  });

  it('history --all: who joined and who began to leave', async () => {
    expect((await collector('history', '--all')).out).toContain('+1 −0 clusters: +new; 1 leaving: c-0');
    const changes = JSON.parse((await collector('history', '--all', '--json')).out);
    expect(changes.slice(-9, -7)).toMatchObject([
      { cluster: 'new', change: 'joined' },
      { cluster: 'c-0', change: 'leaving' },
    ]);
  });

  it('the report, and verify judges each run by its own list', async () => {
    await collector('report', '--out', join(folder, 'report.html'));
    const page = readFileSync(join(folder, 'report.html'), 'utf8');
    expect(page).toContain('Clusters that joined or left');
    expect(page).toContain('+1 −0 clusters: +new; 1 leaving: c-0');
    expect((await collector('verify')).code).toBe(0);
  });
});
