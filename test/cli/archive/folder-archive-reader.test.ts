import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { objectKey, runRecordKey } from '../../../lambda/archive/archive-layout';
import { ArchiveFixture, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

const run = new Date('2026-11-20T09:00:00Z');
const clusters = ['alpha', 'beta'];
const manifest = (cluster: string) => objectKey({ resource: 'manifest', cluster, run, compression: 'gzip' });
const record = runRecordKey({ run, attempt: 1 });

let archive: ArchiveFixture;

beforeEach(async () => {
  archive = await ArchiveFixture.create();
  await archive.attempt({
    run,
    clusters,
    answer: (cluster, resource) => ({ content: resource === 'log' ? logRecord(cluster, 'text') : 'kind: Namespace\n' }),
  });
});

async function verify() {
  const args = ['verify', '--archive', archive.folder, '--json'];
  const { code, out } = await runCollector(args, { now: new Date('2100-01-01T00:00:00Z') });
  const { sound, findings } = JSON.parse(out) as {
    sound: number;
    findings: { kind: string; key: string; problem: string }[];
  };
  return { code, sound, findings };
}

const pathOf = (key: string) => join(archive.folder, key);

describe('a metadata file of the archive in a folder that was cut', () => {
  const cut = (key: string) => truncate(pathOf(join('.metadata', `${key}.json`)), 20);
  const problem = 'its metadata file in .metadata/ cannot be used: it is not JSON';

  it('is damage of its object, and keeps nothing else from being verified, listed and shown', async () => {
    await cut(manifest('alpha'));
    const findings = [{ kind: 'damaged', key: manifest('alpha'), problem }];
    expect(await verify()).toEqual({ code: 1, sound: 3, findings });
    const options = { now: new Date('2026-11-20T10:00:00Z') };
    const listed = await runCollector(['list', '--archive', archive.folder, '--keys'], options);
    expect(listed).toMatchObject({ code: 0, err: '' });
    for (const cluster of clusters) expect(listed.out).toContain(manifest(cluster));
    const shown = await runCollector(['show', 'beta', '--archive', archive.folder], options);
    expect([shown.code, shown.out]).toEqual([0, 'kind: Namespace\n']);
  });

  it('is damage of its run record', async () => {
    await cut(record);
    const { code, findings } = await verify();
    expect(code).toBe(1);
    expect(findings).toContainEqual({ kind: 'damaged', key: record, problem });
    expect(findings.filter(({ kind }) => kind === 'unrecorded')).toHaveLength(4);
  });
});

const isUnix = process.platform !== 'win32';

// There are no FIFOs on Windows, and a link takes a privilege there.
(isUnix ? describe : describe.skip)('what is no regular file in a folder of an archive', () => {
  const fifo = (path: string) => execFileSync('mkfifo', [path]);

  it('is damage in the place of an object, and is not opened', async () => {
    await rm(pathOf(manifest('alpha')));
    fifo(pathOf(manifest('alpha')));
    const elsewhere = `${pathOf(manifest('beta'))}.moved`;
    await rename(pathOf(manifest('beta')), elsewhere);
    await symlink(elsewhere, pathOf(manifest('beta')));
    const { code, findings } = await verify();
    expect(code).toBe(1);
    expect(findings).toEqual([
      { kind: 'damaged', key: manifest('alpha'), problem: 'it is a FIFO, not a regular file' },
      { kind: 'damaged', key: manifest('beta'), problem: 'it is a symbolic link, not a regular file' },
      { kind: 'unrecorded', key: `${manifest('beta')}.moved`, problem: 'its key is none of an archive' },
    ]);
  });

  it('is damage in the place of a run record, and beside one', async () => {
    await rm(pathOf(record));
    fifo(pathOf(record));
    fifo(join(dirname(pathOf(record)), 'other'));
    const { code, findings } = await verify();
    expect(code).toBe(1);
    const problem = 'it is a FIFO, not a regular file';
    expect(findings).toContainEqual({ kind: 'damaged', key: record, problem });
    expect(findings).toContainEqual({ kind: 'unrecorded', key: join(dirname(record), 'other'), problem });
  });

  it('is named although the lifecycle could have removed an object of its key', async () => {
    const key = objectKey({ resource: 'log', cluster: 'gamma', run, compression: 'gzip' });
    await mkdir(dirname(pathOf(key)), { recursive: true });
    fifo(pathOf(key));
    const args = ['verify', '--archive', archive.folder, '--json', '--retention-days', '1'];
    const { code, out } = await runCollector(args, { now: new Date() });
    expect(code).toBe(1);
    const problem = 'no run record says that it was archived; it is a FIFO, not a regular file';
    expect(JSON.parse(out).findings).toContainEqual({ kind: 'unrecorded', key, problem });
  });

  it('is damage in the place of a metadata file, and is named beside them', async () => {
    const described = join('.metadata', `${manifest('alpha')}.json`);
    await rm(pathOf(described));
    fifo(pathOf(described));
    fifo(pathOf('.metadata/logs/stray'));
    const problem = 'it is a FIFO, not a regular file';
    const unusable = `its metadata file in .metadata/ cannot be used: ${problem}`;
    expect((await verify()).findings).toEqual([
      { kind: 'damaged', key: manifest('alpha'), problem: unusable },
      { kind: 'unrecorded', key: '.metadata/logs/stray', problem },
      { kind: 'unrecorded', key: described, problem },
    ]);
  });

  it('is a folder behind a symbolic link, which is not looked into', async () => {
    const folder = dirname(dirname(pathOf(manifest('alpha'))));
    const outside = join(dirname(archive.folder), 'outside-of-the-archive');
    await rename(folder, outside);
    await symlink(outside, folder);
    const { code, findings } = await verify();
    expect(code).toBe(1);
    expect(findings).toEqual([
      { kind: 'damaged', key: manifest('alpha'), problem: 'it lies behind a symbolic link' },
      {
        kind: 'unrecorded',
        key: `${dirname(dirname(manifest('alpha')))}/`,
        problem: 'it is a symbolic link, not a regular file',
      },
    ]);
    await rm(outside, { recursive: true });
  });

  it('is a socket', async () => {
    // The path of a socket has about 100 bytes at most.
    const server = createServer();
    await new Promise<void>((listening) => server.listen(pathOf('s'), listening));
    const { code, findings } = await verify();
    await new Promise((closed) => server.close(closed));
    expect(code).toBe(1);
    expect(findings).toEqual([{ kind: 'unrecorded', key: 's', problem: 'it is a socket, not a regular file' }]);
  });
});

describe('a name in a folder of an archive that no key has', () => {
  it.each([
    ['logs/abc…/…def', 'logs/abc…/…def', 'no key has this name: "logs/abcdef" has another'],
    ['logs/a\\b/c', 'logs/a\\b/', 'no key has this name: backslash and NUL are no part of a file name'],
    ['logs/end…', 'logs/end…', 'no key has this name: names that end with … are reserved'],
    ['.metadata-own/x', '.metadata-own/', 'no key has this name: names that begin with .metadata are reserved'],
    [
      '.metadata/a\\b.json',
      '.metadata/a\\b.json',
      'no key has this name: backslash and NUL are no part of a file name',
    ],
  ])('is named: %j', async (path, key, problem) => {
    await mkdir(join(archive.folder, dirname(path)), { recursive: true });
    await writeFile(join(archive.folder, path), 'by hand');
    const { code, findings } = await verify();
    expect(code).toBe(1);
    expect(findings).toEqual([{ kind: 'unrecorded', key, problem }]);
  });

  // Other file systems refuse such names.
  const onLinux = process.platform === 'linux' ? it : it.skip;

  onLinux.each(['file', 'folder'])('is named if it is not UTF-8: a %s', async (kind) => {
    const path = Buffer.concat([Buffer.from(`${join(archive.folder, 'logs')}/a`), Buffer.of(0xff)]);
    await (kind === 'file' ? writeFile(path, 'by hand') : mkdir(path));
    const { code, findings } = await verify();
    expect(code).toBe(1);
    const key = `logs/a\ufffd${kind === 'file' ? '' : '/'}`;
    const problem = 'no key has this name: the character U+FFFD stands for bytes that are not UTF-8';
    expect(findings).toEqual([{ kind: 'unrecorded', key, problem }]);
  });
});
