import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { configurationKey, runRecordKey, sealKey, sealStampKey, sealStateKey } from '../../archive/format/keys';
import { sha256Of } from '../../archive/format/seal-file';
import { FolderArchiveReader } from '../../archive/read/folder-archive-reader';
import { copyPart } from '../../cli/export/copy-part';
import { ArchiveFixture, answerBut, hour, hourly, keyOf } from '../cli/archive-fixture';
import { putBytes, sealedAndStamped } from '../cli/export/second-reader';
import { longAfter, runVerify } from '../cli/run-verify';
import { SealFixture, sealedPlan, signingKeys } from '../cli/seal-fixture';

const log = keyOf('log', 'beta', hour(9));
const record = runRecordKey({ run: hour(9), attempt: 1 });
const [first, planted] = [1, 3].map((attempt) => runRecordKey({ run: hour(8), attempt })) as [string, string];
const unsealed = runRecordKey({ run: hour(11), attempt: 2 });
const latest = runRecordKey({ run: hour(11), attempt: 1 });
const unnamed = keyOf('log', 'gamma', hour(11));
/** With an expression that only a later version knows. */
const ofLater = { clusters: [], schedule: { ...hourly, expression: 'when it is quiet' } };
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

/** Puts an object that no run record names. @param hours before it is looked at; left out: with everything else */
async function putUnnamed(archive: ArchiveFixture, hours?: number): Promise<void> {
  await archive.put(unnamed, readFileSync(join(archive.folder, log)), {});
  if (hours === undefined) return;
  const about = join(archive.folder, 'metadata', `${unnamed}.json`);
  const lastModified = new Date(longAfter.getTime() - hours * 3_600_000).toISOString();
  writeFileSync(about, JSON.stringify({ ...JSON.parse(readFileSync(about, 'utf8')), lastModified }));
}

/** An attempt that fails on its cluster. */
function refuse(archive: ArchiveFixture) {
  const answer = answerBut({ gamma: { failed: 'GET it failed: 503', httpStatus: 503 } });
  return archive.attempt({ run: hour(11), clusters: ['gamma'], attempt: 2, trigger: 'manual', answer });
}

/** Archives with what `verify` has to find in each. */
export const changes: Readonly<Record<string, readonly [Change, ...string[]]>> = {
  good: [() => {}],
  'missing-object': [remove(log), `missing ${log}`],
  'damaged-object': [(archive) => archive.damage(log), `damaged ${log}`],
  'forged-record': [(archive) => replace(archive, true), `forged ${record}`],
  'unrecorded-object': [
    (archive) => archive.put(keyOf('log', 'gamma', hour(9)), readFileSync(join(archive.folder, log)), {}),
    `unrecorded ${keyOf('log', 'gamma', hour(9))}`,
  ],
  'unrecorded-file': [(archive) => writeFileSync(join(archive.folder, 'CHECK.md'), ''), 'unrecorded CHECK.md'],
  'missing-record': [remove(record), `missing ${record}`],
  'unsealed-record': [
    (archive) => archive.put(planted, Buffer.from(text(archive, first).replace('"attempt":1', '"attempt":3')), {}),
    `unsealed ${planted}`,
  ],
  'missing-attempt': [
    remove(unsealed.replace('attempt-2', 'attempt-1')),
    `missing ${unsealed.replace('attempt-2', 'attempt-1')}`,
  ],
  'damaged-record': [
    (archive) => putBytes(archive.folder, unsealed, Buffer.from(text(archive, unsealed).slice(0, -9))),
    `damaged ${unsealed}`,
  ],
  'seal-broken-gap': [
    remove(sealKey(2)),
    `seal-broken ${sealKey(2)}`,
    `seal-broken ${sealStampKey({ number: 2, authority: 'one' })}`,
  ],
  'seal-broken-signer': [
    async (_, seals) => seals.put(await seals.read(3), { keys: signingKeys() }),
    `seal-broken ${sealKey(3)}`,
  ],
  'seal-broken-content': [
    (archive) => {
      const seal = readFileSync(join(archive.folder, sealKey(3)));
      seal[40] = (seal[40] ?? 0) ^ 1;
      return archive.put(sealKey(3), seal, {}, { contentType: 'application/x-ndjson' });
    },
    `seal-broken ${sealKey(3)}`,
  ],
  'forged-stamp': [
    (archive) => archive.put(stamp, readFileSync(join(archive.folder, stamp.replace('001', '002'))), {}),
    `forged ${stamp}`,
  ],
  'seal-broken-state': [async (archive, seals) => remove(sealStateKey((await seals.read(3)).state))(archive, seals)],
  'forged-object': [
    async (archive) => {
      const key = keyOf('log', 'alpha', hour(10));
      const content = gunzipSync(readFileSync(join(archive.folder, log)));
      const before = await archive.store.head(key);
      const [sha256, length] = [sha256Of(content), String(content.length)];
      await archive.put(key, gzipSync(content), { ...before?.userMetadata, sha256, length });
    },
    `forged ${keyOf('log', 'alpha', hour(10))}`,
  ],
  contradiction: [
    (archive) => archive.put(latest, Buffer.from(text(archive, latest).replace('"archived":6', '"archived":5')), {}),
    `contradiction ${latest}`,
  ],
  pending: [(archive) => putUnnamed(archive, 8), `pending ${unnamed}`],
  'pending-left': [
    async (archive) => {
      await putUnnamed(archive);
      await refuse(archive);
    },
    `pending ${unnamed}`,
  ],
  'unrecorded-later': [
    async (archive) => {
      await refuse(archive);
      await putUnnamed(archive, 10);
    },
    `unrecorded ${unnamed}`,
  ],
  unreadable: [
    (archive) => archive.putConfiguration(ofLater),
    `unreadable ${configurationKey(sha256Of(Buffer.from(JSON.stringify(ofLater))))}`,
  ],
  'without-metadata': [({ folder }) => rmSync(join(folder, 'metadata'), { recursive: true })],
};

/** An archive whose list of clusters was read from outside: a cluster joined, and then the list could not be read. */
/** Three hourly runs of a list from outside, the last of which could not read it, and a seal of them. */
export async function ofLists(lists: readonly string[][]): Promise<ArchiveFixture> {
  const archive = await ArchiveFixture.create();
  const from = 's3://lists/clusters.json';
  for (const [at, clusters] of lists.entries()) {
    const record = await archive.attempt({ run: hour(8 + at), clusters, answer: answerBut({}) });
    const read = { sha256: sha256Of(Buffer.from(String(clusters))), modifiedAt: hour(7 + at).toISOString() };
    const problem = 'Reading the list failed: 403 Forbidden';
    const clusterList = at < 2 ? { from, ...read, isInForce: true } : { from, isInForce: false, problem };
    await archive.putRecord({ ...record, clusterList });
  }
  const clusterList = { from: 's3://lists/clusters.json', leaveAfterDays: 3 };
  await new SealFixture(archive).seal({ at: hour(14), changes: { plan: { ...sealedPlan, clusterList } } });
  return archive;
}

/** What is asked of the vector of that name. */
export const vectorPart = { cluster: 'beta', from: hour(8), to: hour(9) };
const partArguments = ['--part', '--cluster', 'beta', '--from', hour(8).toISOString(), '--to', hour(9).toISOString()];

/** What `verify --json` says of a vector, but for its place, and the words of its problems, which may become better. */
export async function saidOf(folder: string): Promise<Record<string, unknown>> {
  const args = basename(folder) === 'part' ? partArguments : [];
  const { result, code } = await runVerify(folder, args, longAfter);
  const findings = result.findings.map(({ kind, key }) => `${kind} ${key}`).sort();
  return JSON.parse(JSON.stringify({ exitCode: code, ...result, archive: undefined, notSeen: undefined, findings }));
}

/** Packs a folder, the same bytes for the same content, and writes what `verify` says of it. */
async function freeze(name: string, folder: string): Promise<void> {
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (!file.isFile() || !path.startsWith(join(folder, 'metadata/'))) continue;
    const about = JSON.parse(readFileSync(path, 'utf8')) as { readonly lastModified: string };
    // What is said to be of a later time is meant.
    const isYoung = new Date(about.lastModified) > new Date();
    if (!isYoung) writeFileSync(path, JSON.stringify({ ...about, lastModified: hour(12).toISOString() }));
  }
  for (const one of ['.metadata-incoming']) rmSync(join(folder, one), { recursive: true, force: true });
  const packed = join(__dirname, `${name}.tar.gz`);
  const options = [
    '--sort=name',
    '--mtime=@1795176000',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
  ];
  const { status, stdout } = spawnSync('tar', ['-c', ...options, '-C', folder, '.'], { maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`Packing ${folder} failed: tar ended with ${status}`);
  writeFileSync(packed, gzipSync(stdout, { level: 9 }));
  writeFileSync(join(__dirname, `${name}.json`), `${JSON.stringify(await saidOf(folder), undefined, 1)}\n`);
}

/**
 * Writes the vectors that are not there, with new keys: `npx tsx test/vectors/write-vectors.ts`. Those that are there stay: a vector
 * that changes breaks the promise to read what version 1 wrote.
 */
async function writeVectors(): Promise<void> {
  const { archive, seals } = await sealedAndStamped();
  const folders = new Map<string, string>();
  for (const [name, [change]] of Object.entries(changes)) {
    const copy = await archive.copy();
    await change(copy, seals.in(copy));
    folders.set(name, copy.folder);
  }
  const work = await mkdtemp(join(tmpdir(), 'collector-vectors-'));
  const part = join(work, 'part');
  await copyPart(new FolderArchiveReader(archive.folder), vectorPart, part);
  // They are of the version that wrote the part, and nobody judges them.
  for (const name of ['CHECK.md', 'check_archive.py']) rmSync(join(part, name));
  folders.set('part', part);
  const two = ['alpha', 'beta'];
  folders.set('list-changed', (await ofLists([two, [...two, 'gamma'], [...two, 'gamma']])).folder);
  for (const [name, folder] of folders) if (!existsSync(join(__dirname, `${name}.tar.gz`))) await freeze(name, folder);
  await rm(work, { recursive: true });
  const files = readdirSync(__dirname).filter((name) => /\.(?:json|tar\.gz)$/.test(name) && name !== 'SHA256SUMS');
  const sums = files.sort().map((name) => `${sha256Of(readFileSync(join(__dirname, name)))}  ${name}\n`);
  writeFileSync(join(__dirname, 'SHA256SUMS'), sums.join(''));
}

if (require.main === module)
  writeVectors().catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  });
