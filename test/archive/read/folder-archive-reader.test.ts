import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runRecordKey } from '../../../archive/format/keys';
import { FolderArchiveReader } from '../../../archive/read/folder-archive-reader';
import { ArchiveFixture, hour, keyOf, plainAnswer } from '../../cli/archive-fixture';
import { runCollector } from '../../cli/run-collector';
import { runVerify } from '../../cli/run-verify';

const run = hour(9);
const clusters = ['alpha', 'beta'];
const manifest = (cluster: string) => keyOf('manifest', cluster, run);
const record = runRecordKey({ run, attempt: 1 });

let archive: ArchiveFixture;

beforeEach(async () => {
  archive = await ArchiveFixture.create();
  await archive.attempt({ run, clusters, answer: plainAnswer });
});

const pathOf = (key: string) => join(archive.folder, key);
const found = async (...args: string[]) => {
  const { code, result } = await runVerify(archive.folder, args);
  expect(code).toBe(1);
  return result.findings;
};

describe('a metadata file of the archive in a folder that was cut', () => {
  const cut = (key: string) => truncate(pathOf(join('metadata', `${key}.json`)), 20);
  const problem = 'its metadata file in metadata/ cannot be used: it is not JSON';

  it('is damage of its object, and keeps nothing else from being verified, listed and shown', async () => {
    await cut(manifest('alpha'));
    const findings = [{ kind: 'damaged', key: manifest('alpha'), problem }];
    expect(await runVerify(archive.folder)).toMatchObject({ code: 1, result: { sound: 3, findings } });
    const listed = await runCollector(['list', '--archive', archive.folder, '--json']);
    expect(listed).toMatchObject({ code: 0, err: '' });
    for (const cluster of clusters) expect(listed.out).toContain(manifest(cluster));
    const shown = await runCollector(['show', 'beta', '--archive', archive.folder]);
    expect([shown.code, shown.out]).toEqual([0, 'kind: Namespace # beta\n']);
  });

  it('is damage of its run record', async () => {
    await cut(record);
    const findings = await found();
    expect(findings).toContainEqual({ kind: 'damaged', key: record, problem });
    expect(findings.filter(({ kind }) => kind === 'unrecorded')).toHaveLength(4);
  });
});

it('whatever lies under a key is there, but a folder is not, and what no folder can have', async () => {
  const reader = new FolderArchiveReader(archive.folder);
  const [key, other] = [manifest('alpha'), manifest('beta')];
  await rm(pathOf(other));
  expect(
    [key, other, dirname(key), `${key}/x`, '../x', '', `metadata/${key}.json`].map((one) => reader.has(one)),
  ).toEqual([true, ...Array.from({ length: 6 }, () => false)]);
  await mkdir(pathOf(other));
  expect(reader.has(other)).toBe(false);
  await rm(pathOf(other), { recursive: true });
  await symlink('nowhere', pathOf(other));
  expect(reader.has(other)).toBe(true);
});

it('an object that may not be opened is unreadable, also in a copy without metadata', async () => {
  await rm(pathOf('metadata'), { recursive: true });
  const { openSync } = fs;
  const opened = jest.spyOn(fs, 'openSync').mockImplementation((path, ...args) => {
    if (path === pathOf(manifest('alpha')))
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    return openSync(path, ...args);
  });
  try {
    const problem = `Reading ${manifest('alpha')} failed: EACCES: permission denied`;
    expect((await runVerify(archive.folder)).result.findings).toEqual([
      { kind: 'unreadable', key: manifest('alpha'), problem },
    ]);
  } finally {
    opened.mockRestore();
  }
});

const isUnix = process.platform !== 'win32';

// There are no FIFOs on Windows, and a link takes a privilege there.
(isUnix ? describe : describe.skip)('what is not a regular file in a folder of an archive', () => {
  const fifo = (key: string) => execFileSync('mkfifo', [pathOf(key)]);
  const inPlaceOf = async (key: string) => {
    await rm(pathOf(key));
    fifo(key);
  };
  const problem = 'it is a FIFO, not a regular file';

  it('is damage in the place of an object, and is not opened', async () => {
    await inPlaceOf(manifest('alpha'));
    const elsewhere = `${pathOf(manifest('beta'))}.moved`;
    await rename(pathOf(manifest('beta')), elsewhere);
    await symlink(elsewhere, pathOf(manifest('beta')));
    expect(await found()).toEqual([
      { kind: 'damaged', key: manifest('alpha'), problem },
      { kind: 'damaged', key: manifest('beta'), problem: 'it is a symbolic link, not a regular file' },
      { kind: 'unrecorded', key: `${manifest('beta')}.moved`, problem: 'not a key that this archive uses' },
    ]);
  });

  it('is damage in the place of a run record, and beside one', async () => {
    await inPlaceOf(record);
    const other = join(dirname(record), 'other');
    fifo(other);
    const findings = await found();
    expect(findings).toContainEqual({ kind: 'damaged', key: record, problem });
    expect(findings).toContainEqual({ kind: 'unrecorded', key: other, problem });
  });

  it('is a folder behind a symbolic link, which is not looked into', async () => {
    const folder = dirname(dirname(manifest('alpha')));
    const outside = join(dirname(archive.folder), 'outside-of-the-archive');
    await rename(pathOf(folder), outside);
    await symlink(outside, pathOf(folder));
    expect(await found()).toEqual([
      { kind: 'unrecorded', key: `${folder}/`, problem: 'it is a symbolic link, not a regular file' },
    ]);
  });
});

describe('a name in a folder of an archive that no key has', () => {
  const notAKey = (key: string, why: string) => [{ kind: 'unrecorded', key, problem: `no key has this name: ${why}` }];

  it.each([
    ['logs/a\\b/c', 'logs/a\\b/', 'a file name has no backslash and no NUL'],
    ['.metadata-own/x', '.metadata-own/*', 'names that begin with .metadata are reserved'],
  ])('is named: %j', async (path, key, why) => {
    await mkdir(dirname(pathOf(path)), { recursive: true });
    await writeFile(pathOf(path), 'by hand');
    expect(await found()).toEqual(notAKey(key, why));
  });

  // Other file systems refuse such names.
  const onLinux = process.platform === 'linux' ? it : it.skip;

  onLinux.each(['file', 'folder'])('is named if it is not UTF-8: a %s', async (kind) => {
    const path = Buffer.concat([Buffer.from(`${pathOf('logs')}/a`), Buffer.of(0xff)]);
    await (kind === 'file' ? writeFile(path, 'by hand') : mkdir(path));
    const key = `logs/a\ufffd${kind === 'file' ? '' : '/'}`;
    expect(await found()).toEqual(notAKey(key, 'the character U+FFFD stands for bytes that are not UTF-8'));
  });
});
