import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { objectKey, runRecordKey, sealKey, sealStampKey } from '../archive/format/keys';
import { sealSchema, signatureSchema } from '../archive/format/seal';
import { dueSchema, stateSchema } from '../archive/format/seal-state';
import { requestStamp } from '../archive/prove/stamps/request-stamp';
import { startStampAuthority } from '../local/stamp-authority/start-stamp-authority';
import { ArchiveFixture, logRecord } from './cli/archive-fixture';
import { SealFixture, sealedPlan, signingKeys } from './cli/seal-fixture';

const page = readFileSync(join(__dirname, '../docs/proof.md'), 'utf8');
/** The commands of the page, by the words before them. */
const commands = new Map(
  [...page.matchAll(/^\*\*(.*?)\.\*\*[^`]*(?:`[^`]+`[^`]*)*```sh\n([\s\S]*?)```/gm)].map(([, name = '', text = '']) => [
    name,
    text,
  ]),
);

const run = (hour: number) => new Date(Date.UTC(2026, 10, 20, hour));
const recordKey = (hour: number) => runRecordKey({ run: run(hour), attempt: 1 });
const logKey = (hour: number, cluster = 'a "b" {c}') => objectKey({ resource: 'log', cluster, run: run(hour) });
const seal = sealKey;

it('docs/format.md explains every member of a seal and of a signature', () => {
  const { verified, unread, plan, open, due } = sealSchema.shape;
  const { summary } = stateSchema.shape;
  const parts = [sealSchema, signatureSchema, verified, unread, plan, open, due, stateSchema, dueSchema, summary];
  const members = parts.flatMap(({ shape }) => Object.keys(shape));
  const format = readFileSync(join(__dirname, '../docs/format.md'), 'utf8');
  expect(members.filter((name) => !format.includes(`\`${name}\``))).toEqual([]);
});

it('docs/proof.md says how many attacks there are', () => {
  const rows = readFileSync(join(__dirname, 'lambda/audit/attacks.md'), 'utf8').match(/^\| (?!attack)/gm) ?? [];
  expect(page).toContain(`These are nine of ${rows.length} rows`);
});

describe('the commands in docs/proof.md', () => {
  /** What names run records in a seal, and has no hash of them. */
  const known = { kind: 'forged', key: recordKey(8) };
  const changes = {
    plan: { ...sealedPlan, acknowledged: [{ ...known, why: '{"key":"runs/x","sha256":"y"}' }] },
  };
  let archive: ArchiveFixture;
  let seals: SealFixture;
  let keyFile: string;
  let hashes: string[];

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    seals = new SealFixture(archive);
    hashes = [];
    for (const hour of [8, 9, 10]) {
      await attempt(hour);
      hashes.push(await seals.seal({ at: run(hour + 12), changes }));
    }
    keyFile = `${archive.folder}.pem`;
    await writeFile(keyFile, seals.publicKey);
  });

  /** A cluster and a state that are hard to take for text between braces. */
  const attempt = (hour: number, text = 'text', clusters = ['a "b" {c}', 'beta']) =>
    archive.attempt({
      run: run(hour),
      clusters,
      answer: (cluster, resource) =>
        resource === 'log'
          ? { content: logRecord(cluster, text, '}{"key":"'), state: '}{"key":"' }
          : { content: `kind: ${text}\n` },
    });

  async function check(name: string, environment: { KEY?: string; HEAD?: string; ROOT?: string } = {}) {
    const command = commands.get(name);
    if (command === undefined) throw new Error(`the page has no command "${name}"`);
    const env = { PATH: process.env.PATH, LC_ALL: 'C', KEY: keyFile, HEAD: hashes[1], ...environment };
    return new Promise<{ failed: boolean; out: string; err: string }>((resolve) => {
      execFile('bash', ['--norc', '-c', command], { cwd: archive.folder, env }, (error, out, err) =>
        resolve({ failed: error !== null, out, err }),
      );
    });
  }

  it('are all tried here', () => {
    expect([...commands.keys()]).toEqual([
      'The mail',
      'The signatures',
      'The chain',
      'The stamps',
      'The run records',
      'What is not sealed',
      'The objects',
      'What nothing names',
    ]);
    expect(commands.size).toBe(page.split('```sh').length - 1);
  });

  it('find the seal of a mail', async () => {
    expect(await check('The mail')).toEqual({ failed: false, out: `${hashes[1]}  ${seal(2)} is number 2\n`, err: '' });
    expect(await check('The mail', { HEAD: 'e'.repeat(64) })).toMatchObject({ failed: true, out: '' });
  });

  it('check signatures, and find a changed seal and another key', async () => {
    const right = [1, 2, 3].map((number) => `${seal(number)} is number ${number}: Verified OK\n`).join('');
    expect(await check('The signatures')).toEqual({ failed: false, out: right, err: '' });
    await seals.put({ ...(await seals.read(2)), collectorVersion: '1.0.1' }, { signed: hashes[1] ?? '' });
    const { out } = await check('The signatures');
    expect(out.match(/Verified OK|Verification failure/gi)).toEqual([
      'Verified OK',
      'Verification failure',
      'Verified OK',
    ]);
    const other = `${archive.folder}-other.pem`;
    await writeFile(other, signingKeys().publicKey.export({ format: 'pem', type: 'spki' }));
    expect((await check('The signatures', { KEY: other })).out).not.toContain('Verified OK');
  });

  it('find an object that nothing names', async () => {
    expect(await check('What nothing names')).toMatchObject({ out: '', err: '' });
    const planted = logKey(9, 'planted');
    await archive.put(planted, gzipSync('planted'), {});
    expect(await check('What nothing names')).toMatchObject({ out: `${planted}\n`, err: '' });
  });

  it('follow the chain, and find a seal that was changed or removed', async () => {
    const ok = `${seal(1)}: OK\n${seal(2)}: OK\n`;
    expect(await check('The chain')).toEqual({ failed: false, out: ok, err: '' });
    await seals.put({ ...(await seals.read(1)), collectorVersion: '1.0.1' });
    expect((await check('The chain')).out).toBe(`${seal(1)}: FAILED\n${seal(2)}: OK\n`);
    await rm(join(archive.folder, seal(2)));
    expect((await check('The chain')).out).toContain(`${seal(2)}: FAILED`);
  });

  it('say when a seal existed by its stamp, and whether the stamp is of another seal or another root', async () => {
    const authority = await startStampAuthority({ now: () => run(20) });
    try {
      const { url, root } = authority;
      const planned = { name: 'local', url, root: root.raw.toString('base64') };
      const { response } = await requestStamp(planned, Buffer.from(hashes[1] ?? '', 'hex'));
      const stamped = sealStampKey({ number: 2, authority: 'local' });
      await writeFile(join(archive.folder, stamped), response);
      const ROOT = `${archive.folder}-root.pem`;
      await writeFile(ROOT, root.toString());
      const right = `${seal(2)} existed before Nov 20 20:00:00 2026 GMT\n`;
      expect(await check('The stamps', { ROOT })).toEqual({ failed: false, out: right, err: '' });
      expect((await check('The stamps', { ROOT: keyFile })).out).toContain(`${stamped} is not a stamp of ${seal(2)}`);
      await seals.put({ ...(await seals.read(2)), collectorVersion: '1.0.1' });
      expect((await check('The stamps', { ROOT })).out).toContain(`${stamped} is not a stamp of ${seal(2)}`);
    } finally {
      await authority.close();
    }
  });

  it('compare run records, and find one that was replaced together with its objects, or removed', async () => {
    expect(await check('The run records')).toEqual({ failed: false, out: '', err: '' });
    await attempt(9, 'forged');
    expect(await check('The run records')).toMatchObject({ failed: true, out: `${recordKey(9)}: FAILED\n` });
    await rm(join(archive.folder, recordKey(9)));
    expect((await check('The run records')).out).toBe(`${recordKey(9)}: FAILED open or read\n`);
  });

  it('take nothing for sealed that stands in a second line, which nobody signs', async () => {
    await attempt(11);
    const planted = `{"key":"${recordKey(11)}","sha256":"${'e'.repeat(64)}","bytes":1}`;
    const file = join(archive.folder, seal(1));
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace(/\{"sha256"(.*)\n$/, `{"also":[${planted}],"sha256"$1\n`),
    );
    expect(await check('The run records')).toEqual({ failed: false, out: '', err: '' });
    expect((await check('What is not sealed')).out).toBe(`${recordKey(11)}\n`);
  });

  it('list run records that no seal has', async () => {
    expect(await check('What is not sealed')).toEqual({ failed: false, out: '', err: '' });
    await attempt(11);
    expect((await check('What is not sealed')).out).toBe(`${recordKey(11)}\n`);
  });

  it('compare objects, those of killed attempts too, and find what is another', async () => {
    const killed = logKey(11, 'killed');
    await archive.put(killed, gzipSync('text'), {});
    const sha256 = createHash('sha256').update('text').digest('hex');
    await seals.seal({ at: run(23), objects: [{ key: killed, sha256, bytes: 4 }] });
    expect(await check('The objects')).toEqual({ failed: false, out: '', err: '' });
    for (const key of [logKey(9), killed]) await archive.put(key, gzipSync('forged'), {});
    expect((await check('The objects')).out).toBe(
      [logKey(9), killed].map((key) => `${key} is not what was archived\n`).join(''),
    );
    await rm(join(archive.folder, logKey(8)));
    expect((await check('The objects')).out).toContain(`${logKey(8)} is not what was archived\n`);
  });
});
