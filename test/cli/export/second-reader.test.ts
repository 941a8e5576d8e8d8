import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { FolderArchiveReader } from '../../../cli/archive/folder-archive-reader';
import { copyPart } from '../../../cli/export/copy-part';
import { runRecordKey, sealKey, sealStampKey, sealStateKey } from '../../../lambda/archive/archive-layout';
import { readPart } from '../../../lambda/verify/part';
import { sha256Of } from '../../../lambda/verify/seals/seal-file';
import { type ArchiveFixture, hour, keyOf } from '../archive-fixture';
import { longAfter } from '../run-verify';
import { type SealFixture, signingKeys } from '../seal-fixture';
import {
  damageOf,
  hasPython,
  putBytes,
  readFolders,
  sealedAndStamped,
  secondReader,
  verifyFolder,
} from './second-reader';

const log = keyOf('log', 'beta', hour(9));
const record = runRecordKey({ run: hour(9), attempt: 1 });
const [first, planted] = [1, 3].map((attempt) => runRecordKey({ run: hour(8), attempt })) as [string, string];
const unsealed = runRecordKey({ run: hour(11), attempt: 2 });
const stamp = sealStampKey({ number: 1, authority: 'one' });

type Change = (archive: ArchiveFixture, seals: SealFixture) => unknown;

const text = ({ folder }: ArchiveFixture, key: string) => readFileSync(join(folder, key), 'utf8');
const remove =
  (key: string): Change =>
  ({ folder }) =>
    rmSync(join(folder, key));

/** Replaces an object, its metadata, and if asked the record that has its hash. */
async function replace(archive: ArchiveFixture, withRecord: boolean): Promise<void> {
  const before = await archive.store.head(log);
  const content = Buffer.from('{"kind":"forged"}');
  const [sha256, length] = [sha256Of(content), String(content.length)];
  await archive.put(log, gzipSync(content), { ...before?.userMetadata, sha256, length });
  if (!withRecord) return;
  const [, , , line = ''] = text(archive, record).split('\n');
  const { cluster, resource, key, fetchedAt } = JSON.parse(line);
  const own = { cluster, resource, outcome: 'archived', key, fetchedAt, sha256, bytes: content.length };
  await archive.put(record, Buffer.from(text(archive, record).replace(line, JSON.stringify(own))), {});
}

/** Each with what `verify` has to find in it, and so has the second reader. */
const changes: Readonly<Record<string, readonly [Change, ...string[]]>> = {
  nothing: [() => {}],
  'an object is gone': [remove(log), `missing ${log}`],
  'a bit is another': [(archive) => archive.damage(log), `damaged ${log}`],
  'an object and its record are replaced': [(archive) => replace(archive, true), `forged ${record}`],
  'an object lies there that no record names': [
    (archive) => archive.put(keyOf('log', 'gamma', hour(9)), readFileSync(join(archive.folder, log)), {}),
    `unrecorded ${keyOf('log', 'gamma', hour(9))}`,
  ],
  'a file lies there that is none of an archive': [
    (archive) => writeFileSync(join(archive.folder, 'CHECK.md'), ''),
    'unrecorded CHECK.md',
  ],
  'a sealed record is gone': [remove(record), `missing ${record}`],
  'a record is put behind the seals, as if it were old': [
    (archive) => archive.put(planted, Buffer.from(text(archive, first).replace('"attempt":1', '"attempt":3')), {}),
    `unsealed ${planted}`,
  ],
  'an earlier attempt is gone': [
    remove(unsealed.replace('attempt-2', 'attempt-1')),
    `missing ${unsealed.replace('attempt-2', 'attempt-1')}`,
  ],
  'a record is cut': [
    (archive) => putBytes(archive.folder, unsealed, Buffer.from(text(archive, unsealed).slice(0, -9))),
    `damaged ${unsealed}`,
  ],
  'a middle seal is gone': [
    remove(sealKey(2)),
    `seal-broken ${sealKey(2)}`,
    `seal-broken ${sealStampKey({ number: 2, authority: 'one' })}`,
  ],
  'a seal is signed by another': [
    async (_, seals) => seals.put(await seals.read(3), { keys: signingKeys() }),
    `seal-broken ${sealKey(3)}`,
  ],
  'a seal is changed behind its signature': [
    (archive) => {
      const seal = readFileSync(join(archive.folder, sealKey(3)));
      seal[40] = (seal[40] ?? 0) ^ 1;
      return archive.put(sealKey(3), seal, {}, { contentType: 'application/x-ndjson' });
    },
    `seal-broken ${sealKey(3)}`,
  ],
  'a stamp is that of another seal': [
    (archive) => archive.put(stamp, readFileSync(join(archive.folder, stamp.replace('001', '002'))), {}),
    `forged ${stamp}`,
  ],
  'the state of the newest seal is gone': [
    async (archive, seals) => remove(sealStateKey((await seals.read(3)).state))(archive, seals),
  ],
  'a sealed object that no record names is replaced': [
    async (archive) => {
      const key = keyOf('log', 'alpha', hour(10));
      const content = gunzipSync(readFileSync(join(archive.folder, log)));
      const before = await archive.store.head(key);
      const [sha256, length] = [sha256Of(content), String(content.length)];
      await archive.put(key, gzipSync(content), { ...before?.userMetadata, sha256, length });
    },
    `forged ${keyOf('log', 'alpha', hour(10))}`,
  ],
};

(hasPython ? describe : describe.skip)('the second reader', () => {
  let work: string;
  let made: Awaited<ReturnType<typeof sealedAndStamped>>;

  beforeAll(async () => {
    made = await sealedAndStamped();
    work = await mkdtemp(join(tmpdir(), 'collector-second-reader-'));
  });
  afterAll(async () => {
    for (const folder of [work, made.archive.folder]) await rm(folder, { recursive: true });
  });

  it('finds what verify finds, of every kind, in one process for all archives', async () => {
    const folders: string[] = [];
    const found: Record<string, readonly string[]> = {};
    for (const [name, [change]] of Object.entries(changes)) {
      const archive = await made.archive.copy();
      await change(archive, made.seals.in(archive));
      folders.push(archive.folder);
      found[name] = damageOf(await verifyFolder(archive.folder));
    }
    const second = readFolders(folders).map(damageOf);
    expect(Object.fromEntries(Object.keys(changes).map((name, at) => [name, second[at]]))).toEqual(found);
    for (const [name, [, ...expected]] of Object.entries(changes))
      expect([name, found[name]]).toEqual([name, expect.arrayContaining(expected)]);
  });

  const read = (folder: string, ...args: string[]) =>
    spawnSync('python3', [secondReader, folder, '--now', longAfter.toISOString(), ...args], { encoding: 'utf8' });

  it('trusts the keys, hashes and roots that it is given, and no others', async () => {
    const { archive, seals, root } = made;
    const [own, other, roots] = ['own.pem', 'other.pem', 'root.pem'].map((name) => join(work, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(own, seals.publicKey);
    writeFileSync(other, signingKeys().publicKey.export({ format: 'pem', type: 'spki' }));
    writeFileSync(roots, root);
    const head = sha256Of(Buffer.from(text(archive, sealKey(2)).split('\n')[0] ?? ''));
    const right = read(archive.folder, '--public-key', own, '--head', head);
    expect([right.status, right.stdout, right.stderr]).toEqual([0, 'Nothing is wrong.\n', '']);
    expect(read(archive.folder, '--public-key', other).stdout).toContain(`seal-broken ${sealKey(1)}: `);
    expect(read(archive.folder, '--head', 'a'.repeat(64)).stdout).toContain('seal-broken seals/*: ');
    // Nobody has stamped the newest seal for three days.
    expect(read(archive.folder, '--tsa-ca', roots).stdout).toMatch(new RegExp(`^seal-broken ${sealKey(3)}: .*\n$`));
    expect([read(join(work, 'absent')).status, read(work).status]).toEqual([3, 1]);
  });

  it('lies in a part that export wrote, says that it is sound, and finds what was added', async () => {
    const { archive } = made;
    const out = join(work, 'part');
    const about = { cluster: 'beta', archive: archive.folder, exportedAt: longAfter.toISOString() };
    await copyPart(new FolderArchiveReader(archive.folder), { ...about, from: hour(8), to: hour(9) }, out);
    const judge = () => spawnSync('python3', ['check_archive.py', '.'], { cwd: out, encoding: 'utf8' });
    expect(await verifyFolder(out, await readPart(new FolderArchiveReader(out)))).toEqual([]);
    expect(judge()).toMatchObject({ status: 0, stdout: 'Nothing is wrong.\n' });
    writeFileSync(join(out, 'planted.txt'), '');
    rmSync(join(out, log));
    expect(judge().stdout).toMatch(/^missing .*\nunrecorded planted\.txt: .*\n$/);
  });
});
