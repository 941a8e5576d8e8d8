import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { damageKinds, type Finding } from '../../../archive/format/finding';
import { sealStampKey } from '../../../archive/format/keys';
import { checksumText } from '../../../archive/format/object-headers';
import { sha256Of } from '../../../archive/format/seal-file';
import type { Part } from '../../../archive/prove/part';
import { stampRequest } from '../../../archive/prove/stamps/request-stamp';
import { verifyArchive } from '../../../archive/prove/verify-archive';
import { FolderArchiveReader } from '../../../archive/read/folder-archive-reader';
import { answerStamp } from '../../../local/stamp-authority/answer-stamp';
import { issueCertificate, ofIssuer, ofStamps } from '../../../local/stamp-authority/issue-certificate';
import { ArchiveFixture, answerBut, hour, keyOf } from '../archive-fixture';
import { longAfter } from '../run-verify';
import { SealFixture, sealedPlan } from '../seal-fixture';

/** Whether this machine has what the second reader needs. Where CI is set, it has to. */
export const hasPython = ['python3', 'openssl'].every((name) => spawnSync(name, ['--help']).error === undefined);
if (!hasPython && process.env.CI !== undefined) throw new Error('The second reader needs python3 and openssl');

/** Runs a line of Python beside the second reader, long after the tests wrote their archives. */
export function runPython(line: string, args: readonly string[], input = '') {
  const folder = join(__dirname, '../../../cli/export');
  const script = `
import json, sys, time
from types import SimpleNamespace
sys.path.insert(0, sys.argv.pop(1))
time.time = lambda: ${longAfter.getTime() / 1000}
import check_archive
${line}`;
  const options = { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  return spawnSync('python3', ['-B', '-c', script, folder, ...args], options);
}

/** Its verdict on each of some folders, by one process. */
export function readFolders(folders: readonly string[], part?: Part): Finding[][] {
  const [since, until] = [part?.from, part?.to].map((time) => time?.toISOString() ?? null);
  const asked = JSON.stringify({
    is_part: part !== undefined,
    cluster: part?.cluster ?? null,
    since,
    until,
    heads: [],
  });
  const judged = `check_archive.judge(folder, time.time(), [], SimpleNamespace(**json.loads('${asked}')))[0]`;
  const { stdout, stderr } = runPython(`for folder in sys.argv[1:]: print(json.dumps(${judged}))`, folders);
  if (stderr !== '') throw new Error(`The second reader failed: ${stderr}`);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) =>
      (JSON.parse(line) as [Finding['kind'], string, string][]).map(([kind, key, problem]) => ({ kind, key, problem })),
    );
}

/** What `verify` finds in a folder. */
export async function verifyFolder(folder: string, part?: Part): Promise<readonly Finding[]> {
  return (await verifyArchive(new FolderArchiveReader(folder), { part, now: longAfter, concurrency: 8 })).findings;
}

/**
 * `kind key` of what is damage, each once, in order. Each reader has its own way to say that two things cannot be true together:
 * a contradiction counts where nothing else is found.
 */
export function damageOf(findings: readonly Pick<Finding, 'kind' | 'key'>[]): string[] {
  const damage = findings.filter(({ kind }) => damageKinds.includes(kind));
  const named = damage.filter(({ kind }) => kind !== 'contradiction').map(({ kind, key }) => `${kind} ${key}`);
  return named.length === 0 && damage.length > 0 ? ['contradiction'] : [...new Set(named)].sort();
}

export const readerClusters = ['alpha', 'beta', 'Ölfeld/3'];

/** An archive of three clusters and four runs, with three seals of the first three runs, two of them stamped. */
export async function sealedAndStamped() {
  const archive = await ArchiveFixture.create();
  const seals = new SealFixture(archive);
  const valid = { validFrom: new Date('2026-01-01'), validTo: new Date('2096-01-01') };
  const root = issueCertificate({ name: 'Root of one', ...valid, extensions: ofIssuer() });
  const signer = issueCertificate({ name: 'one', ...valid, issuer: root, extensions: ofStamps() });
  const timestamps = [{ name: 'one', url: 'http://one.example', root: root.certificate.raw.toString('base64') }];
  const plan = { ...sealedPlan, clusters: 3, timestamps };
  const attempt = { clusters: readerClusters, answer: answerBut({}) };
  const seal = async (number: number, changes = {}) => {
    const sha256 = await seals.seal({ at: hour(8 + number), changes: { plan, ...changes } });
    if (number === 3) return;
    const { bytes } = stampRequest(Buffer.from(sha256, 'hex'));
    const stamp = answerStamp(bytes, { signer, time: new Date(hour(8 + number).getTime() + 7000) });
    await archive.put(
      sealStampKey({ number, authority: 'one' }),
      stamp,
      {},
      { contentType: 'application/timestamp-reply' },
    );
    return { key: sealStampKey({ number, authority: 'one' }), sha256: sha256Of(stamp), bytes: stamp.length };
  };
  await archive.attempt({ ...attempt, run: hour(8), answer: answerBut({ beta: { failed: 'no answer' } }) });
  await archive.attempt({ ...attempt, run: hour(8), attempt: 2, startedAt: hour(8.2), answer: repeated });
  const first = await seal(1);
  await archive.attempt({ ...attempt, run: hour(9) });
  const second = await seal(2, { stamps: [first] });
  await archive.attempt({
    ...attempt,
    run: hour(10),
    answer: answerBut({ alpha: { alreadyArchived: 'without hash' } }),
  });
  const late = await putObject(archive, keyOf('log', 'alpha', hour(10)), keyOf('log', 'alpha', hour(9)));
  const manifest = await putObject(archive, keyOf('manifest', 'alpha', hour(10)), keyOf('manifest', 'alpha', hour(9)));
  await seal(3, { stamps: [second], objects: [late, manifest] });
  await archive.attempt({ ...attempt, run: hour(11) });
  await archive.attempt({ ...attempt, run: hour(11), attempt: 2, startedAt: hour(11.2), answer: repeatedAll });
  return { archive, seals };
}

const repeated = (uid: string) =>
  uid === 'beta' ? answerBut({})(uid, 'manifest') : ({ alreadyArchived: 'with hash' } as const);
const repeatedAll = () => ({ alreadyArchived: 'with hash' }) as const;

/** Stores what another run archived as what this one did, without a record. */
async function putObject(archive: ArchiveFixture, key: string, like: string) {
  const before = await archive.store.head(like);
  const body = readFileSync(join(archive.folder, like));
  const run = /(\d{8}T\d{6}.\d{3}Z)/.exec(key)?.[1]?.replace(/^(....)(..)(.....)(..)/, '$1-$2-$3:$4:') ?? '';
  await archive.put(key, body, { ...before?.userMetadata, run });
  const { sha256 = '', length = '' } = before?.userMetadata ?? {};
  return { key, sha256, bytes: Number(length) };
}

/** Writes bytes under a key as they are; what is known of them beside is as before, but for the checksum. */
export function putBytes(folder: string, key: string, bytes: Buffer, about: Record<string, unknown> = {}): void {
  const [data, description] = [join(folder, key), join(folder, 'metadata', `${key}.json`)];
  for (const path of [data, description]) mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(data, bytes);
  const checksums = { crc32: checksumText(crc32(bytes)) };
  writeFileSync(description, JSON.stringify({ ...about, checksums }));
}
