import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { objectKey, runRecordKey, sealKey } from '../../../../lambda/archive/archive-layout';
import type { Resource } from '../../../../lambda/resources';
import type { RunRecord } from '../../../../lambda/run/run-record';
import { ArchiveFixture, type AttemptFixture, logRecord } from '../../../cli/archive-fixture';
import { runVerify, type Verified } from '../../../cli/run-verify';
import { SealFixture, signingKeys } from '../../../cli/seal-fixture';

const on = (day: number, hour: number) => new Date(Date.UTC(2026, 10, day, hour));
const clusters = ['alpha', 'beta'];
/** The schedule was due at both runs of each day, and never else. */
const schedule = { expression: 'cron(0 8,9 * * ? *)', timeZone: 'Etc/UTC', enabled: true };
const answerOf =
  (text: string): AttemptFixture['answer'] =>
  (cluster, resource) => ({ content: resource === 'log' ? logRecord(cluster, text) : `kind: ${text} # ${cluster}\n` });

const seal1 = sealKey({ number: 1, part: 'seal' });
const seal2 = sealKey({ number: 2, part: 'seal' });
const seal3 = sealKey({ number: 3, part: 'seal' });
const recordKey = (day: number, hour: number, attempt = 1) => runRecordKey({ run: on(day, hour), attempt });
const objectOf = (day: number, hour: number, resource: Resource = 'log', cluster = 'alpha') =>
  objectKey({ resource, cluster, run: on(day, hour), compression: 'gzip' });

describe('verify with seals', () => {
  let archive: ArchiveFixture;
  let seals: SealFixture;
  let keyFile: string;
  /** SHA-256 of each seal, the first one's first. */
  let hashes: string[];
  let records: RunRecord[];

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    seals = new SealFixture(archive);
    keyFile = `${archive.folder}.pem`;
    await writeFile(keyFile, seals.publicKey);
    hashes = [];
    records = [];
    for (const day of [18, 19, 20]) {
      for (const hour of [8, 9]) records.push(await attempt(day, hour));
      hashes.push(await seals.seal({ at: on(day + 1, 3) }));
    }
  });

  const attempt = (day: number, hour: number, text = 'text', more: Partial<AttemptFixture> = {}) =>
    archive.attempt({ run: on(day, hour), clusters, answer: answerOf(text), configuration: { schedule }, ...more });
  const pathOf = (key: string) => join(archive.folder, key);
  const remove = async (...keys: string[]) => {
    for (const key of keys) await rm(pathOf(key));
  };
  const verify = (...args: string[]) => runVerify(archive.folder, args);
  /** Without, and with, a key that somebody kept. */
  const verifyBoth = async (): Promise<[Verified, Verified]> => [await verify(), await verify('--public-key', keyFile)];
  /** What is found under seals/, the archive's own key trusted or not. */
  const expectBoth = async (kinds: readonly string[], problem: RegExp) => {
    for (const { code, ...found } of await verifyBoth()) {
      expect([code, found.kinds]).toEqual([1, kinds]);
      expect(found.problems[0]).toMatch(problem);
    }
  };

  it('finds nothing in what is sealed and unchanged, and says which seal is the newest', async () => {
    for (const { code, result } of await verifyBoth()) {
      const newest = { number: 3, seal: '2026-11-21T03:00:00.000Z', sha256: hashes[2] };
      expect([code, result.findings, result.sealed]).toEqual([0, [], { seals: 3, newest }]);
    }
  });

  it.each([1, 2, 3])('knows the hash that the mail of seal %i told', async (number) => {
    expect(await verify('--head', hashes[number - 1]?.toUpperCase() ?? '')).toMatchObject({ code: 0, kinds: [] });
  });

  describe('in what is sealed', () => {
    it('finds a record and its objects that were replaced together, consistently', async () => {
      await attempt(19, 8, 'forged');
      await expectBoth([`forged ${recordKey(19, 8)}`], /not the one in seal 2/);
    });

    it('finds the same in a period', async () => {
      await attempt(19, 8, 'forged');
      expect((await verify('--from', '2026-11-19', '--to', '2026-11-19')).kinds).toEqual([
        `forged ${recordKey(19, 8)}`,
      ]);
      expect((await verify('--from', '2026-11-20')).kinds).toEqual([]);
    });

    it('finds an outcome that was left out, or turned into failed, together with its object', async () => {
      const { outcomes, ...record } = records[2] as RunRecord;
      const manifest = objectOf(19, 8, 'manifest', 'beta');
      await remove(manifest);
      const others = outcomes.filter(({ key }) => key !== manifest);
      await archive.putRecord({ ...record, counts: { ...record.counts, archived: 3 }, outcomes: others });
      expect((await verify()).kinds).toContain(`forged ${recordKey(19, 8)}`);
      await archive.putRecord({
        ...record,
        status: 'incomplete',
        counts: { ...record.counts, archived: 3, failed: 1 },
        outcomes: [...others, { cluster: 'beta', resource: 'manifest', outcome: 'failed', error: 'no answer' }],
      });
      expect((await verify()).kinds).toEqual([
        `forged ${recordKey(19, 8)}`,
        'absent runs/date=2026-11-19/20261119T080000.000Z.*',
      ]);
    });

    it('finds a bad record that was a good one', async () => {
      await archive.put(recordKey(19, 8), Buffer.from('no record'), {});
      expect((await verify()).kinds).toContain(`forged ${recordKey(19, 8)}`);
    });

    it('finds a run that was removed with everything of it', async () => {
      await remove(recordKey(20, 9));
      for (const resource of ['log', 'manifest'] as const)
        for (const cluster of clusters) await remove(objectOf(20, 9, resource, cluster));
      await expectBoth([`missing ${recordKey(20, 9)}`], /seal 3 has it, and it is not there/);
      expect((await verify('--to', '2026-11-19')).kinds).toEqual([]);
    });

    it('finds the last attempt that was removed', async () => {
      await attempt(21, 8, 'text', { answer: () => ({ failed: 'no answer' }) });
      await attempt(21, 8, 'text', { attempt: 2 });
      await seals.seal({ at: on(22, 3) });
      await remove(recordKey(21, 8, 2));
      for (const resource of ['log', 'manifest'] as const)
        for (const cluster of clusters) await remove(objectOf(21, 8, resource, cluster));
      const { kinds } = await verify();
      expect(kinds).toContain(`missing ${recordKey(21, 8, 2)}`);
    });

    it('finds an object of a killed attempt that was replaced together with its metadata, or removed', async () => {
      const killed = objectOf(21, 8, 'log', 'gamma');
      const other = await ArchiveFixture.create();
      const copy = async (text: string) => {
        await other.attempt({ run: on(21, 8), clusters: ['gamma'], answer: answerOf(text) });
        const { userMetadata = {} } = (await other.store.head(killed)) ?? {};
        await archive.put(killed, await readFile(join(other.folder, killed)), userMetadata);
        return createHash('sha256').update(logRecord('gamma', text)).digest('hex');
      };
      const sha256 = await copy('text');
      await attempt(21, 8, 'text', {
        clusters: ['gamma'],
        answer: (_, resource) =>
          resource === 'log' ? { alreadyArchived: 'without hash' } : { content: 'kind: Namespace\n' },
      });
      await seals.seal({ at: on(22, 3), objects: [{ key: killed, sha256, bytes: 1 }] });
      // The hash is the audit's own; no record says who archived it.
      const before = (await verify()).kinds;
      expect(before.filter((kind) => kind.includes(killed))).toEqual([]);
      await copy('forged');
      expect((await verify()).kinds).toEqual([`forged ${killed}`, ...before]);
      await remove(killed);
      expect((await verify()).kinds).toContain(`missing ${killed}`);
    });
  });

  describe('in the chain', () => {
    it('finds a seal that was removed', async () => {
      const unsealed = [8, 9].map((hour) => `unsealed ${recordKey(19, hour)}`);
      await remove(seal2);
      await expectBoth([`seal-broken ${seal2}`, ...unsealed], /it is not there/);
      await remove(sealKey({ number: 2, part: 'signature' }));
      await expectBoth([`seal-broken ${seal2}`, ...unsealed], /it is not there, and later seals are/);
    });

    it('finds the first seals removed', async () => {
      for (const number of [1, 2])
        await remove(sealKey({ number, part: 'seal' }), sealKey({ number, part: 'signature' }));
      const unsealed = [18, 19].flatMap((day) => [8, 9].map((hour) => `unsealed ${recordKey(day, hour)}`));
      await expectBoth([`seal-broken ${seal1}`, ...unsealed], /it and those up to number 2 are not there/);
    });

    it('finds two seals that were exchanged', async () => {
      const [one, two] = [await seals.read(1), await seals.read(2)];
      await seals.sign(1, await seals.put(two, 1));
      await seals.sign(2, await seals.put(one, 2));
      for (const { code, kinds } of await verifyBoth()) {
        expect(code).toBe(1);
        expect(new Set(kinds)).toEqual(new Set([seal1, seal2, seal3].map((key) => `seal-broken ${key}`)));
      }
    });

    it('finds a changed seal by its signature, and by the seal behind it', async () => {
      const { records: all, ...rest } = await seals.read(2);
      await seals.put({ ...rest, records: all.slice(1) });
      const [{ problems }] = await verifyBoth();
      expect(problems).toEqual([
        expect.stringMatching(/signature is of another content/),
        expect.stringMatching(/the hash in it is not that of the seal before/),
        expect.stringMatching(/no seal has it/),
      ]);
    });

    it('finds a chain that was rewritten from a point on with another key', async () => {
      await attempt(19, 8, 'forged');
      const keys = signingKeys();
      let before = { key: seal1, sha256: hashes[0] ?? '' };
      for (const number of [2, 3]) {
        const sealed = { ...(await seals.read(number)), records: await recordsOf(17 + number), previous: before };
        before = { key: sealKey({ number, part: 'seal' }), sha256: await seals.put(sealed) };
        await seals.sign(number, before.sha256, keys);
      }
      expect(await verify()).toMatchObject({ code: 1, kinds: [`seal-broken ${seal2}`] });
      const { kinds, problems } = await verify('--public-key', keyFile);
      expect(kinds).toEqual([`seal-broken ${seal2}`]);
      expect(problems[0]).toMatch(/it and those up to number 3 are signed with a key that is none of those given/);
    });

    it('finds a chain that was rewritten to its end with another key, if a key was kept', async () => {
      await attempt(18, 8, 'forged');
      const forger = new SealFixture(archive);
      for (const day of [18, 19, 20]) {
        const changes = { records: await recordsOf(day) };
        await forger.seal({ at: on(day + 1, 3), changes });
      }
      // Whoever trusts the archive's own key sees one whole chain.
      expect(await verify()).toMatchObject({ code: 0, kinds: [] });
      const { code, kinds, problems } = await verify('--public-key', keyFile);
      expect([code, kinds]).toEqual([1, [`seal-broken ${seal1}`]]);
      expect(problems[0]).toMatch(/it and those up to number 3 are signed with a key that is none of those given/);
      expect((await verify('--head', hashes[0] ?? '')).kinds).toEqual(['seal-broken seals/*']);
    });

    it('finds a chain that was rewritten with its own key, by a mail alone', async () => {
      await attempt(18, 8, 'forged');
      const forger = new SealFixture(archive);
      for (const day of [18, 19, 20])
        await forger.seal({ at: on(day + 1, 3), keys: seals.keys, changes: { records: await recordsOf(day) } });
      for (const { code, kinds } of await verifyBoth()) expect([code, kinds]).toEqual([0, []]);
      const { code, kinds, problems } = await verify('--public-key', keyFile, '--head', hashes[2] ?? '');
      expect([code, kinds]).toEqual([1, ['seal-broken seals/*']]);
      expect(problems[0]).toMatch(/no seal has the SHA-256 .* seals were removed or replaced/);
    });

    it('finds a chain that is forked behind a point: its seals are of two keys, or not of the one before', async () => {
      await seals.sign(
        3,
        await seals.put({ ...(await seals.read(3)), previous: { key: seal2, sha256: 'e'.repeat(64) } }),
      );
      await expectBoth([`seal-broken ${seal3}`], /the hash in it is not that of the seal before/);
      await seals.sign(
        3,
        await seals.put({ ...(await seals.read(3)), previous: { key: seal1, sha256: hashes[0] ?? '' } }),
      );
      await expectBoth([`seal-broken ${seal3}`], /the hash in it is not that of the seal before/);
    });

    it('finds a seal that names another than the one before it, with the right hash', async () => {
      const previous = { key: seal1, sha256: hashes[1] ?? '' };
      await seals.sign(3, await seals.put({ ...(await seals.read(3)), previous }));
      await expectBoth([`seal-broken ${seal3}`], /the hash in it is not that of the seal before/);
    });

    it('finds a first seal that says that another came before', async () => {
      const previous = { key: seal1, sha256: 'e'.repeat(64) };
      await seals.sign(1, await seals.put({ ...(await seals.read(1)), previous }));
      await expectBoth([`seal-broken ${seal1}`, `seal-broken ${seal2}`], /it is the first/);
    });

    it.each(['seal', 'signature'] as const)('finds a %s with headers that the audit does not write', async (part) => {
      const key = sealKey({ number: 2, part });
      await archive.put(key, await readFile(pathOf(key)), {}, { contentType: 'text/html' });
      await expectBoth([`seal-broken ${seal2}`], /text\/html/);
    });

    it('finds seals of the end cut off by a mail alone', async () => {
      await remove(seal3, sealKey({ number: 3, part: 'signature' }));
      // The last day is younger than the seal that is the newest now.
      for (const { kinds } of await verifyBoth()) expect(kinds.filter((kind) => kind.startsWith('seal'))).toEqual([]);
      const { code, kinds } = await verify('--head', hashes[2] ?? '');
      expect([code, kinds]).toEqual([1, expect.arrayContaining(['seal-broken seals/*'])]);
    });

    it('finds all seals removed, if a key or a mail was kept', async () => {
      for (const number of [1, 2, 3])
        await remove(sealKey({ number, part: 'seal' }), sealKey({ number, part: 'signature' }));
      expect(await verify()).toMatchObject({ code: 0, result: { sealed: null } });
      expect(await verify('--public-key', keyFile)).toMatchObject({ code: 1, kinds: ['seal-broken seals/*'] });
      expect(await verify('--head', hashes[2] ?? '')).toMatchObject({ code: 1, kinds: ['seal-broken seals/*'] });
    });

    it('finds what is no seal under seals/', async () => {
      await archive.put('seals/0000004.json', Buffer.from('{}'), {});
      expect((await verify()).kinds).toEqual(['unrecorded seals/0000004.json']);
    });

    it.each<[string, Buffer]>([
      ['no JSON', Buffer.from('no JSON')],
      ['another document', Buffer.from('{"version":1}')],
      ['nothing', Buffer.alloc(0)],
    ])('finds a seal that is %s', async (_, content) => {
      await archive.put(seal2, content, {});
      const { code, kinds } = await verify();
      const broken = kinds.filter((kind) => kind.startsWith('seal-broken'));
      expect([code, new Set(broken)]).toEqual([1, new Set([`seal-broken ${seal2}`, `seal-broken ${seal3}`])]);
    });

    it('finds a seal of another archive, and one that says another number', async () => {
      await seals.seal({ at: on(22, 3), changes: { archive: 'other-bucket' } });
      await expectBoth(
        [`seal-broken ${sealKey({ number: 4, part: 'seal' })}`],
        /it is of the archive other-bucket, the seals before of archive-bucket/,
      );
      await seals.seal({ at: on(23, 3), changes: { number: 7 } });
      expect((await verify()).problems).toContain('it says that it is number 7');
    });

    it('finds two seals that give one record two hashes', async () => {
      const [record] = (await seals.read(1)).records;
      await seals.seal({
        at: on(22, 3),
        changes: { records: [{ key: record?.key ?? '', sha256: 'e'.repeat(64), bytes: 1 }] },
      });
      expect((await verify()).problems).toEqual([`seal 1 has another hash of ${record?.key}`]);
    });
  });

  describe('in signatures', () => {
    it('takes a last seal without one as pending, and another as broken', async () => {
      await seals.seal({ at: on(22, 3), isSigned: false });
      const pending = `pending ${sealKey({ number: 4, part: 'seal' })}`;
      for (const { code, kinds, result } of await verifyBoth())
        expect([code, kinds, result.sealed?.newest?.number]).toEqual([0, [pending], 3]);
      await seals.seal({ at: on(23, 3) });
      await expectBoth(
        [`seal-broken ${sealKey({ number: 4, part: 'seal' })}`],
        /not signed, and later seals are there/,
      );
    });

    it('finds one of another key, unless all keys are given', async () => {
      const next = signingKeys();
      await seals.seal({ at: on(22, 3), keys: next });
      await expectBoth([`seal-broken ${sealKey({ number: 4, part: 'seal' })}`], /another key than|none of those given/);
      const nextFile = `${archive.folder}-next.pem`;
      await writeFile(nextFile, next.publicKey.export({ format: 'pem', type: 'spki' }));
      expect((await verify('--public-key', keyFile, nextFile)).kinds).toEqual([]);
      expect((await verify('--public-key', keyFile, '--public-key', nextFile)).kinds).toEqual([]);
      const { kinds, problems } = await verify('--public-key', nextFile);
      expect([kinds, problems]).toEqual([
        [`seal-broken ${seal1}`],
        [expect.stringContaining('up to number 3 are signed')],
      ]);
    });

    it.each<[string, (text: string) => string]>([
      [
        'says the key, and was not made with it',
        (text) => text.replace(/"signature":"[^"]*"/, '"signature":"MEUCIQ=="'),
      ],
      ['is no signature file', () => 'no JSON'],
      ['has no public key', (text) => text.replace(/"publicKey":"[^"]*"/, '"publicKey":"AAAA"')],
    ])('finds one that %s', async (_, change) => {
      const key = sealKey({ number: 2, part: 'signature' });
      await archive.put(key, Buffer.from(change(await readFile(pathOf(key), 'utf8'))), {});
      await expectBoth([`seal-broken ${seal2}`], /signature/);
    });

    it.each(['ed25519', 'x25519'] as const)('finds one that names a key of another kind: %s', async (kind) => {
      // Typed one by one: the library has a signature for each kind.
      const { publicKey } = kind === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519');
      const base64 = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
      const key = sealKey({ number: 2, part: 'signature' });
      const text = (await readFile(pathOf(key), 'utf8')).replace(/"publicKey":"[^"]*"/, `"publicKey":"${base64}"`);
      await archive.put(key, Buffer.from(text), {});
      await expectBoth([`seal-broken ${seal2}`], /no public key that can be read/);
    });

    it('finds one without its seal', async () => {
      await seals.sign(4, 'e'.repeat(64));
      await expectBoth([`seal-broken ${sealKey({ number: 4, part: 'seal' })}`], /it is not there/);
    });
  });

  describe('with a lifecycle', () => {
    const plan = { clusters: 2, schedule, retentionDays: 30 };
    const at = (day: string) => runVerify(archive.folder, [], new Date(day));

    beforeEach(async () => {
      archive = await ArchiveFixture.create();
      seals = new SealFixture(archive);
      const configuration = { schedule, retentionDays: 30 };
      for (const hour of [8, 9]) await attempt(18, hour, 'text', { configuration });
      await seals.seal({ at: on(19, 3), changes: { plan } });
      await attempt(19, 8, 'text', { configuration });
      await seals.seal({ at: on(20, 3), changes: { plan } });
    });

    it('excuses what a sealed retention may have removed', async () => {
      await removeRun(18, 8);
      expect(await at('2026-12-18T09:00:00Z')).toMatchObject({ code: 0, kinds: [] });
      expect(await at('2026-12-17T09:00:00Z')).toMatchObject({ code: 1, kinds: [`missing ${recordKey(18, 8)}`] });
    });

    it('believes no configuration that somebody stored, also of what is older than the first seal', async () => {
      await archive.putConfiguration({ clusters: [], schedule, retentionDays: 1 });
      await removeRun(18, 8);
      await removeRun(19, 8);
      expect((await at('2026-12-01T00:00:00Z')).kinds).toEqual([
        `missing ${recordKey(18, 8)}`,
        `missing ${recordKey(19, 8)}`,
      ]);
    });
  });

  it('says which firings the seals found absent, though no configuration shows them', async () => {
    await seals.seal({ at: on(22, 3), changes: { due: { runs: 2, absent: ['2026-11-20T12:00:00.000Z'] } } });
    expect(await verify()).toMatchObject({ code: 0, kinds: ['absent runs/date=2026-11-20/20261120T120000.000Z.*'] });
    expect((await verify('--strict')).code).toBe(1);
  });

  async function recordsOf(day: number) {
    return Promise.all(
      [8, 9].map(async (hour) => {
        const bytes = await readFile(pathOf(recordKey(day, hour)));
        return {
          key: recordKey(day, hour),
          sha256: createHash('sha256').update(bytes).digest('hex'),
          bytes: bytes.length,
        };
      }),
    );
  }

  async function removeRun(day: number, hour: number) {
    await remove(recordKey(day, hour));
    for (const resource of ['log', 'manifest'] as const)
      for (const cluster of clusters) await remove(objectOf(day, hour, resource, cluster));
  }
});
