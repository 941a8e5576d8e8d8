import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Finding } from '../../../archive/format/finding';
import { configurationKey, sealKey, sealStateKey, stampOf as stampIn } from '../../../archive/format/keys';
import type { ListedObject } from '../../../archive/read/archive-reader';
import { FolderArchiveReader } from '../../../archive/read/folder-archive-reader';
import { copyPart } from '../../../cli/export/copy-part';
import { FolderStore } from '../../../local/aws/store/folder-store';
import { newFolder } from '../../support/new-folder';
import { ofLists } from '../../vectors/write-vectors';
import { ArchiveFixture, keyOf, plainAnswer } from '../archive-fixture';
import { everyFourHours, healthy, runAt } from '../operator-archive';
import { runCollector } from '../run-collector';
import { longAfter, runVerify } from '../run-verify';
import type { SealFixture } from '../seal-fixture';
import { copyOf, forgeRun, recordOf, sealedOperatorArchive } from '../sealed-operator-archive';

const now = runAt(61);
const period = ['--from', runAt(12).toISOString(), '--to', runAt(23).toISOString()];
/** What bounds the commands of the page to it. */
const bounds = { CLUSTER: healthy, FROM: stampIn(runAt(12)), TO: stampIn(runAt(23)) };
/** What the auditor asked for. */
const asked = ['--part', '--cluster', healthy, ...period];
const stampOf = (at: number) => runAt(at).toISOString().replace('.000', '');
const manifest = (at: number, uid = healthy) => keyOf('manifest', uid, runAt(at));

/** All files beneath a folder, but for what is known of each object. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((file) => !file.startsWith('metadata/'))
    .sort();
}

describe('export, from an archive of ten clusters and 60 runs with nine seals', () => {
  let archive: ArchiveFixture;
  let seals: SealFixture;
  const work = newFolder();
  /** The whole of one cluster, and twelve runs of it. */
  const whole = join(work, 'whole');
  const part = join(work, 'part');

  const collector = (...args: string[]) => runCollector(args, { now });
  const exported = (out: string, ...args: string[]) =>
    collector('export', '--archive', archive.folder, '--cluster', healthy, '--out', out, ...args);

  beforeAll(async () => {
    ({ archive, seals } = await sealedOperatorArchive());
  });

  it('copies one cluster, whole run records and all seals, and ends at what the newest seal has', async () => {
    const { code, out, err } = await exported(whole);
    expect(out).toBe(`${whole}: 106 objects, 53 records of 53 runs, 9 seals\n`);
    expect(err).toContain('The run records are whole: they name 9 other clusters too.\n');
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/106 of 106 objects vouched for by seal 1 of .* to seal 9 of /),
    ]);
    expect(err).toContain(
      '\n6 runs since 2025-11-19T00:00:00Z are not sealed yet: export again after the next audit.\n',
    );
    expect(err).toContain(`verify --archive ${whole} --part --cluster ${healthy}\n`);
    const verified = await collector('verify', '--archive', whole, '--part', '--cluster', healthy);
    expect(verified.out.split('\n')[0]).toBe(`PART: cluster ${healthy}, all runs, as of the newest seal`);
    expect(verified.out).toContain('53 runs, 53 records, 106 objects sound');
    expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('Nothing is damaged. Found: 1 absent.')]);
  });

  it('copies a period, and nothing else', async () => {
    const { code, out, err } = await exported(part, ...period);
    expect([code, out]).toEqual([0, `${part}: 24 objects, 12 records of 12 runs, 9 seals\n`]);
    expect(err).toContain(
      '24 of 24 objects vouched for by seal 3 of 2025-11-12T23:00:00Z to seal 4 of 2025-11-13T23:00:00Z.\n',
    );
    const runs = Array.from({ length: 12 }, (_, at) => 12 + at);
    const configuration = filesIn(archive.folder).find((file) => file.startsWith('configurations/')) ?? '';
    expect(filesIn(part)).toEqual(
      [
        ...['CHECK.md', 'check_archive.py', 'seals-public-key.pem', configuration],
        ...runs.flatMap((at) => [manifest(at), keyOf('log', healthy, runAt(at)), recordOf(at)]),
        ...Array.from({ length: 9 }, (_, at) => sealKey(at + 1)),
        sealStateKey((await seals.read(9)).state),
      ].sort(),
    );
    expect(await readFile(join(part, 'seals-public-key.pem'), 'utf8')).toBe(seals.publicKey);
    const { code: verified, out: said } = await collector('verify', '--archive', part, ...asked, '--json');
    const result = JSON.parse(said);
    expect(Object.keys(result).indexOf('part')).toBeLessThan(Object.keys(result).indexOf('ok'));
    expect([verified, result.part.cluster, result.sound, result.findings]).toEqual([0, healthy, 24, []]);
  });

  it('leaves out what a run that is under way has archived, and what a late attempt adds to a sealed run', async () => {
    const folder = await copyOf(archive.folder);
    const own = recordOf(14).replace('attempt-1', 'attempt-2');
    await plant(folder, manifest(60));
    await cp(join(folder, recordOf(14)), join(folder, own));
    const out = join(work, 'under-way');
    const { code, err } = await collector('export', '--archive', folder, '--cluster', healthy, '--out', out);
    expect([code, err]).toEqual([0, expect.stringContaining(`\n7 runs since ${stampOf(14)} are not sealed yet: `)]);
    expect(filesIn(out)).toEqual(filesIn(whole));
  });

  it('follows links before it decides whether a folder lies in the archive', async () => {
    const link = join(work, 'link');
    await symlink(archive.folder, link);
    const { code, err } = await exported(join(link, 'part'));
    expect([code, err]).toEqual([3, expect.stringContaining('it lies in the archive; name a new folder')]);
    await rm(link);
  });

  it.each([
    ['no longer has its checksum', (folder: string) => flip(join(folder, manifest(14))), 'damaged: not copied:'],
    ['was replaced with its metadata', (folder: string) => forgeRun(folder, 14, false), 'contradiction:'],
  ])('writes the rest of the folder if an object %s, and names it', async (_, does, what) => {
    const folder = await copyOf(archive.folder);
    await does(folder);
    const out = join(work, `${what.slice(0, 7)}-export`);
    const { code, err } = await collector('export', '--archive', folder, '--cluster', healthy, '--out', out, ...period);
    expect(code).toBe(1);
    expect(err).toContain('23 of 24 objects vouched for by seal 3');
    expect(err).toMatch(new RegExp(`^${what} [^]*${manifest(14)}`, 'm'));
    expect(filesIn(out)).toEqual(expect.arrayContaining(['CHECK.md', manifest(15), sealKey(9)]));
  });

  it('is a part only if somebody says so, and a bucket never is', async () => {
    const { code, out } = await collector('verify', '--archive', part);
    expect([code, out]).toEqual([1, expect.not.stringContaining('PART')]);
    const bucket = await collector('verify', '--archive', 's3://my-archive', ...asked);
    expect([bucket.code, bucket.err]).toEqual([2, expect.stringContaining('a bucket is never a part')]);
    const none = await collector('verify', '--archive', part, '--part');
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('--part without --cluster')]);
  });

  it('is judged by what its reader asks, not by what its sender sent', async () => {
    const verified = async (folder: string, ...args: string[]) => {
      const { code, out } = await collector('verify', '--archive', folder, '--part', '--json', ...args);
      return [code, JSON.parse(out).findings.map(({ kind, key }: Finding) => `${kind} ${key}`)];
    };
    const cluster = ['--cluster', healthy];
    const shorter = [...cluster, '--from', runAt(13).toISOString(), '--to', runAt(23).toISOString()];
    expect(await verified(part, ...shorter)).toEqual([
      1,
      expect.arrayContaining([`unrecorded ${recordOf(12)}`, `unrecorded ${manifest(12)}`]),
    ]);
    const longer = [...cluster, '--from', runAt(11).toISOString(), '--to', runAt(23).toISOString()];
    expect(await verified(part, ...longer)).toEqual([1, expect.arrayContaining([`missing ${recordOf(11)}`])]);
  });

  it('writes nothing over what is there, and no folder for a cluster that has nothing', async () => {
    const refuses = async (out: string, why: RegExp, ...args: string[]) =>
      expect(await exported(out, ...args)).toMatchObject({ code: 3, err: expect.stringMatching(why) });
    await refuses(part, /is not empty; name a new folder/);
    const reason = /^error: Writing the export to .*CHECK\.md failed: EEXIST.*; name a new folder\n$/;
    await refuses(join(part, 'CHECK.md'), reason);
    await refuses(join(archive.folder, 'logs', '..', 'part'), /it lies in the archive; name a new/);
    await refuses(join(work, 'none'), /nothing of it was archived/, '--cluster', 'c-0O1');
    expect(readdirSync(work)).not.toContain('none');
  });

  describe('a part that somebody has changed', () => {
    const forgeExcuse = async (folder: string) => {
      await rm(join(folder, recordOf(14)));
      for (const resource of ['log', 'manifest'] as const) await rm(join(folder, keyOf(resource, healthy, runAt(14))));
      await plantExcuse(folder);
    };
    /** What a later configuration and a later date would excuse. */
    const plantExcuse = async (folder: string) => {
      const stored = JSON.stringify({ clusters: [{ uid: healthy }], schedule: everyFourHours, retentionDays: 1 });
      const key = configurationKey(createHash('sha256').update(stored).digest('hex'));
      const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
      await new FolderStore(folder).put(key, gzipSync(stored), headers);
    };
    const forgeBoth = (folder: string) => forgeRun(folder, 14, true);
    /** A run that no seal has: younger than the newest of them. */
    const add = async (folder: string) => {
      for (const key of [recordOf(55), manifest(55), keyOf('log', healthy, runAt(55))]) await bring(folder, key);
    };
    /** Without the newest seal, what it had is younger than the newest that is left. */
    const cutOff = async (folder: string) => {
      await forgeRun(folder, 50, true);
      await rm(join(folder, sealKey(9)));
    };
    const bring = async (folder: string, key: string) => {
      const [from, to] = [new FolderStore(archive.folder), new FolderStore(folder)];
      await to.put(key, await readFile(join(archive.folder, key)), (await from.head(key)) ?? {});
    };
    const remove = (key: string) => (folder: string) => rm(join(folder, key));
    const strayLog = keyOf('log', healthy, new Date('2025-11-12T13:00Z'));
    const unread = `${recordOf(14)}: FAILED open or read\n`;
    const changed = `${manifest(14)} is not what was archived\n`;
    const unsealed = [12, 13, 14, 15, 16, 17].map((at) => `${recordOf(at)}\n`).join('');

    it.each([
      ['a run that no seal has', add, [55]],
      ['what the newest seal had, without that seal', cutOff, [48, 49, 50, 51, 52, 53]],
    ])('is found, and nothing of it counts as sound: %s', async (_, does, runs) => {
      const folder = await copyOf(whole);
      await does(folder);
      const { code, out } = await collector('verify', '--archive', folder, '--part', '--cluster', healthy, '--json');
      const { found, sound, findings } = JSON.parse(out);
      const unsealed = findings.filter(({ kind }: Finding) => kind === 'unsealed').map(({ key }: Finding) => key);
      expect([code, unsealed]).toEqual([1, runs.map(recordOf)]);
      expect(found).toMatchObject({ unsealed: runs.length, unvouched: 2 * runs.length, missing: 0, 'seal-broken': 0 });
      expect(sound).toBe(106 - (does === cutOff ? 2 * runs.length : 0));
    });

    it.each<[string, (folder: string) => Promise<unknown>, kinds: string, command: string, said: string]>([
      ['a run record', remove(recordOf(14)), 'missing unvouched', 'The run records', unread],
      ['an object', remove(manifest(14)), 'missing', 'The objects', changed],
      ['a whole run, with what would excuse it', forgeExcuse, 'missing', 'The run records', unread],
      ['a record and its object', forgeBoth, 'forged unvouched', 'The run records', `${recordOf(14)}: FAILED\n`],
      ['an object with its metadata', (folder) => forgeRun(folder, 14, false), 'contradiction', 'The objects', changed],
      ['a seal', remove(sealKey(3)), 'seal-broken unsealed unvouched', 'What is not sealed', unsealed],
      ['a file of no run', (folder) => plant(folder, strayLog), 'unrecorded', 'What nothing names', `${strayLog}\n`],
    ])('is found: %s', async (_, does, kinds, name, said) => {
      const folder = await copyOf(part);
      await does(folder);
      const { code, out } = await collector('verify', '--archive', folder, ...asked, '--json');
      const { found } = JSON.parse(out);
      const foundKinds = Object.keys(found).filter((kind) => found[kind] > 0 && kind !== 'absent');
      expect([code, foundKinds.join(' ')]).toEqual([1, kinds]);
      expect(await check(folder, name, bounds)).toMatchObject({ out: said });
    });
  });

  describe('its page', () => {
    /** Commands that say nothing if nothing is wrong. */
    const silent = ['The run records', 'What is not sealed', 'The objects', 'What nothing names'];

    it('finds nothing wrong in what nobody has changed, with the tools of every Linux', async () => {
      const chain = Array.from({ length: 8 }, (_, at) => `${sealKey(at + 1)}: OK\n`).join('');
      const right = Array.from({ length: 9 }, (_, at) => `${sealKey(at + 1)} is number ${at + 1}: Verified OK\n`);
      expect(await check(part, 'The signatures', bounds)).toEqual({ out: right.join(''), err: '' });
      expect(await check(part, 'The chain', bounds)).toEqual({ out: chain, err: '' });
      for (const name of silent) expect([name, await check(part, name, bounds)]).toEqual([name, { out: '', err: '' }]);
      expect((await check(whole, 'What is not sealed')).out).toBe('');
      expect(await check(whole, 'The objects', { CLUSTER: healthy })).toEqual({ out: '', err: '' });
    });

    it('has all commands that are tried here, and tells no shell what a cluster is called', async () => {
      const odd = 'a\'; touch $(id) `b` "c"';
      const other = await ArchiveFixture.create();
      await other.attempt({ run: runAt(0), clusters: [odd], answer: plainAnswer });
      const out = join(work, 'odd');
      const exported = await collector('export', '--archive', other.folder, '--cluster', odd, '--out', out);
      const [, encoded = ''] = /after: CLUSTER=(\S+)\.?$/m.exec(exported.err) ?? [];
      expect(encoded).toBe('a%27%3B%20touch%20%24%28id%29%20%60b%60%20%22c%22');
      const ofOdd = { CLUSTER: encoded };
      const names = [...commandsIn(await readFile(join(out, 'CHECK.md'), 'utf8')).keys()];
      expect(names).toEqual(['The mail', 'The signatures', 'The chain', 'The stamps', ...silent]);
      // There are no seals, of which grep says so.
      expect((await check(out, 'The objects', ofOdd)).out).toBe('');
      await plant(out, manifest(0, odd));
      expect((await check(out, 'The objects', ofOdd)).out).toMatch(
        /^manifests\/cluster=a%27.* is not what was archived\n$/,
      );
    });
  });

  it('takes no path from keys that an archive does not have', async () => {
    const reader = new FolderArchiveReader(archive.folder);
    const list = reader.list.bind(reader);
    const outside = ['../evil', '/evil', 'date=2025-11-10/../../../../evil.json.gz', 'x/../../evil.jsonl'];
    const strange = [...outside, '0000001.jsonl'];
    reader.list = async function* (prefix, after) {
      const listed: ListedObject[] = strange.map((name) => ({ key: prefix + name, storedBytes: 1, writtenAt: now }));
      for await (const one of list(prefix, after)) listed.push(one);
      yield* listed.sort((a, b) => (a.key < b.key ? -1 : 1));
    };
    const folder = await mkdtemp(join(work, 'strange-'));
    await copyPart(reader, { cluster: healthy, from: runAt(12), to: runAt(23) }, join(folder, 'out'));
    expect(readdirSync(folder)).toEqual(['out']);
    expect(filesIn(join(folder, 'out'))).toEqual(filesIn(part));
  });
});

function commandsIn(page: string): Map<string, string> {
  const found = page.matchAll(/^\*\*(.*?)\.\*\*[\s\S]*?^```sh\n([\s\S]*?)^```$/gm);
  return new Map([...found].map(([, name = '', text = '']) => [name, text]));
}

/** Runs one command of the page that came with a part, in its folder. */
async function check(folder: string, name: string, bounds = {}): Promise<{ out: string; err: string }> {
  const command = commandsIn(await readFile(join(folder, 'CHECK.md'), 'utf8')).get(name);
  if (command === undefined) throw new Error(`the page has no command "${name}"`);
  const env = { PATH: process.env.PATH, LC_ALL: 'C', KEY: 'seals-public-key.pem', HEAD: '', ...bounds };
  return new Promise((resolve) => {
    execFile('bash', ['--norc', '-c', command], { cwd: folder, env }, (_, out, err) => resolve({ out, err }));
  });
}

/** Changes one bit of a file. */
async function flip(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length - 6] = (bytes.at(-6) ?? 0) ^ 1;
  await writeFile(path, bytes);
}

async function plant(folder: string, key: string): Promise<void> {
  await new FolderStore(folder).put(key, gzipSync('planted'), {});
}

it('export takes of each run what its own list has: of a cluster that joined and of one that left, what was archived', async () => {
  const archive = await ofLists([
    ['alpha', 'beta'],
    ['alpha', 'beta', 'gamma'],
    ['alpha', 'gamma'],
  ]);
  const work = newFolder();
  const collector = (...args: string[]) => runCollector(args, { now: longAfter });
  for (const [cluster, key] of [
    ['gamma', 'manifests/cluster=gamma/date=2026-11-20/20261120T090000.000Z.txt.gz'],
    ['beta', 'logs/cluster=beta/date=2026-11-20/20261120T090000.000Z.json.gz'],
  ] as const) {
    const out = join(work, cluster);
    const exported = await collector('export', '--archive', archive.folder, '--cluster', cluster, '--out', out);
    expect([exported.code, exported.out]).toEqual([0, `${out}: 4 objects, 3 records of 3 runs, 1 seal\n`]);
    const part = ['--part', '--cluster', cluster];
    expect((await runVerify(out, part)).result).toMatchObject({ ok: true, sound: 4, findings: [] });
    await rm(join(out, key));
    const { code, result } = await runVerify(out, part);
    expect([code, result.findings]).toMatchObject([1, [{ kind: 'missing', key }]]);
  }
});
