import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ArchiveFixture, logRecord } from './archive-fixture';

const run = new Date('2026-11-20T09:00:00Z');
const collector = ['--import', 'tsx', 'cli/collector.ts'];

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

const show = () => [...collector, 'show', 'alpha', '--resource', 'log', '--archive', archive.folder];

describe('the process of the command line', () => {
  it('ends with 130 at Ctrl-C while a command reads', async () => {
    const child = spawn(process.execPath, show(), { stdio: ['ignore', 'pipe', 'ignore'] });
    // The command has more to write than is read, and goes on reading only then.
    await once(child.stdout, 'readable');
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([130, null]);
  });

  // Of the systems that tests run on, Linux alone has a device that is always full.
  (existsSync('/dev/full') ? it : it.skip)('says in a sentence that the disk behind its output is full', async () => {
    const full = await open('/dev/full', 'w');
    const child = spawn(process.execPath, show(), { stdio: ['ignore', full.fd, 'pipe'] });
    const [said, [code]] = await Promise.all([text(child.stderr ?? Readable.from([])), once(child, 'exit')]);
    await full.close();
    expect(code).toBe(3);
    expect(said.split('\n').slice(1)).toEqual([
      'error: Writing to standard output failed: the disk is full (ENOSPC); make room',
      '',
    ]);
  });

  it('ends well if the reader of its output has enough', async () => {
    const child = spawn(process.execPath, show(), { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child.stdout, 'readable');
    child.stdout.destroy();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
