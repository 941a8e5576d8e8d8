import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, open, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { newFolder } from '../support/new-folder';
import { startCollector } from '../support/program';
import { ArchiveFixture, logRecord } from './archive-fixture';

const run = new Date('2026-11-20T09:00:00Z');

/** Text that no pipe holds, so that the command waits for its reader. */
const long = 'a line of a log\n'.repeat(500_000);

let archive: ArchiveFixture;

beforeAll(async () => {
  archive = await ArchiveFixture.create();
  await archive.attempt({
    run,
    clusters: ['alpha'],
    answer: (cluster, resource) => ({ content: resource === 'log' ? logRecord(cluster, long) : 'kind: Namespace\n' }),
  });
});

const show = (stdout: 'pipe' | number = 'pipe') =>
  startCollector(['show', 'alpha', '--resource', 'log', '--archive', archive.folder], { stdout });

describe('the process of the command line', () => {
  it('is built once, and reads what lies beside its sources', async () => {
    const folder = join(__dirname, '..', '..', 'node_modules', '.cache', 'collector');
    const report = () => startCollector(['report', '--out', '-', '--archive', archive.folder]);
    expect(await text(report().stdout)).toContain('<style>');
    const builds = async () => Promise.all((await readdir(folder)).map(async (name) => stat(join(folder, name))));
    const [before] = await builds();
    await report().end();
    expect(await builds()).toMatchObject([{ ino: before?.ino, mtimeMs: before?.mtimeMs }]);
  });

  it('is built anew when a source has changed', async () => {
    const root = join(__dirname, '..', '..');
    const copy = newFolder();
    for (const folder of ['archive', 'cli', 'infra', 'lambda', 'local', 'node_modules'])
      await mkdir(join(copy, folder));
    await symlink(join(root, 'node_modules', 'esbuild'), join(copy, 'node_modules', 'esbuild'));
    for (const file of ['package.json', 'package-lock.json', 'cli/launch.cjs'])
      await copyFile(join(root, file), join(copy, file));
    const printed = async (source: string) => {
      await writeFile(join(copy, 'cli', 'collector.ts'), source);
      return execFileSync(process.execPath, [join(copy, 'cli', 'launch.cjs')], { encoding: 'utf8' });
    };
    expect(await printed("console.log('before' as string)")).toBe('before\n');
    expect(await printed("console.log('behind' as string)")).toBe('behind\n');
    expect(await readdir(join(copy, 'node_modules', '.cache', 'collector'))).toHaveLength(1);
  });

  it('ends with 130 at Ctrl-C while a command reads', async () => {
    const shown = show();
    // The command has more to write than is read, and goes on reading only then.
    await once(shown.stdout, 'readable');
    shown.child.kill('SIGINT');
    shown.stdout.resume();
    await shown.end(130);
  });

  // Of the systems that tests run on, Linux alone has a device that is always full.
  (existsSync('/dev/full') ? it : it.skip)('says in a sentence that the disk behind its output is full', async () => {
    const full = await open('/dev/full', 'w');
    const said = await show(full.fd).end(3);
    await full.close();
    expect(said.split('\n').slice(1)).toEqual([
      'error: Writing to standard output failed: the disk is full (ENOSPC); make room',
      '',
    ]);
  });

  it('ends well if the reader of its output has enough', async () => {
    const shown = show();
    await once(shown.stdout, 'readable');
    shown.stdout.destroy();
    await shown.end();
  });
});
