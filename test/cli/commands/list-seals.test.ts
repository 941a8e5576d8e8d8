import { generateKeyPairSync } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { counted } from '../../../archive/format/counted';
import { sealKey } from '../../../archive/format/keys';
import type { Seal } from '../../../archive/format/seal';
import { ArchiveFixture, keyOf, plainAnswer } from '../archive-fixture';
import { runCollector } from '../run-collector';
import { SealFixture, sealedPlan, signingKeys } from '../seal-fixture';

const day = (of: number, hour = 0) => new Date(Date.UTC(2026, 10, of, hour));

describe('the chain of seals', () => {
  let archive: ArchiveFixture;
  let seals: SealFixture;
  let hashes: string[];

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    seals = new SealFixture(archive);
    hashes = [];
    for (const at of [18, 19]) {
      await archive.attempt({ run: day(at, 8), clusters: ['alpha'], answer: () => ({ content: 'kind: Namespace\n' }) });
      hashes.push(await seals.seal({ at: day(at + 1, 3), changes: { found: { missing: at - 18, forged: 0 } } }));
    }
  });

  const collector = (...args: string[]) => runCollector([...args, '--archive', archive.folder]);
  /** After the last of the seals. */
  const verify = (...args: string[]) =>
    runCollector(['verify', ...args, '--archive', archive.folder], { now: day(24, 0) });

  describe('verify --seals', () => {
    it('lists the seals with their hashes, oldest first', async () => {
      const { code, out, err } = await verify('--seals');
      expect([code, err]).toEqual([0, '']);
      const rows = out.split('\n').filter((line) => line.includes('Z'));
      expect(rows).toHaveLength(2);
      expect(rows[0]).toMatch(
        new RegExp(`│ +1 │ 2026-11-19T03:00:00Z │ +1 │ +2 │ +0 │ +8 │ +│ +│ in it +│ ${hashes[0]} │`),
      );
      expect(rows[1]).toMatch(new RegExp(`│ +2 │ 2026-11-20T03:00:00Z .*│ 1 missing │ +│ in it +│ ${hashes[1]} │`));
    });

    it('keeps in 60 columns what was found and whether the chain is whole', async () => {
      const { out } = await runCollector(['verify', '--seals', '--archive', archive.folder], { columns: 60 });
      const lines = stripVTControlCharacters(out).trimEnd().split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
      expect(lines[1]).toMatch(/│ Seal │ Time +│ Found +│ Open +│ Chain │/);
    });

    it('lists only so many, the newest, and fits a narrow terminal with the whole hash', async () => {
      const surroundings = { columns: 80, isTerminal: false };
      const { out } = await runCollector(
        ['verify', '--seals', '--archive', archive.folder, '--last', '1'],
        surroundings,
      );
      const lines = out.trimEnd().split('\n');
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      const hash = lines.slice(3, -1).map((line) => line.split('│').at(-2)?.trim());
      expect(hash.join('')).toBe(hashes[1]);
    });

    it('refuses --last without --seals, which would verify all', async () => {
      const { code, out, err } = await verify('--last', '1');
      expect([code, out, err]).toEqual([2, '', expect.stringContaining('error: --last without --seals: expected')]);
    });

    it.each(['verify --seals', 'runs'])('%s says since when old content was not read', async (command) => {
      const counts = { objects: 8, old: 0, bytes: 1000, carriedOver: 0, carriedOverRecords: 0, expired: 0, all: null };
      const said = 'Old content was not read since 2026-11-18T00:00:00Z (audit.rereadDays is false), says seal 3.\n';
      expect((await collector(...command.split(' '))).out).not.toContain('Old content');
      await seals.seal({ at: day(21), changes: { verified: { ...counts, notReadSince: day(18).toISOString() } } });
      expect((await collector(...command.split(' '))).out).toContain(said);
    });

    it('writes them as JSON, with counts in place of what they seal', async () => {
      const { code, out } = await verify('--seals', '--json');
      const first = { number: 1, sha256: hashes[0], records: 1, objects: 0, isChained: true };
      const previous = { key: sealKey(1), sha256: hashes[0] };
      expect([code, JSON.parse(out)]).toMatchObject([0, [first, { number: 2, sha256: hashes[1], previous }]]);
    });

    it('names what breaks the chain, shows what is beside it, and exits with 1', async () => {
      const passedOver = counted([{ number: 1, sha256: null, why: '' }], 1);
      await seals.put({ ...(await seals.read(2)), previous: null, passedOver });
      const { code, out, err } = await verify('--seals');
      expect([code, err]).toEqual([
        1,
        `seal-broken: its signature is right, and no later seal leads there: the chain was forked or rolled back\n  ${sealKey(1)}\n`,
      ]);
      expect(out).toMatch(/│ +1 │.*│ beside │.*\n.*│ +2 │.*│ in it +│/);
    });

    it('says that it has none', async () => {
      const archive = await ArchiveFixture.create();
      await archive.attempt({ run: day(20), clusters: [], answer: plainAnswer });
      const { folder } = archive;
      const err = `No seals in ${folder}: nothing attests it.\n`;
      expect(await runCollector(['verify', '--seals', '--archive', folder])).toEqual({ code: 0, out: '', err });
      expect(await runCollector(['verify', '--seals', '--archive', folder, '--json'])).toEqual({
        code: 0,
        out: '[]\n',
        err,
      });
    });
  });

  describe('runs reads down to the first right seal', () => {
    /** An archive whose newest right seal has damage open. */
    const open = [{ kind: 'missing', key: 'logs/x', problem: 'gone', since: day(19, 3).toISOString() }] as const;

    it('behind files of junk under high numbers, and names them', async () => {
      await seals.seal({ at: day(21, 3), state: { open: counted(open, 9) } });
      for (let at = 4; at <= 10; at += 1) await archive.put(sealKey(at), Buffer.from('junk\n'), {});
      const { code, out, err } = await collector('runs');
      expect([code, out.split('\n')[0]]).toEqual([
        1,
        expect.stringContaining('DAMAGE open since 2026-11-19T03:00:00Z: 1'),
      ]);
      expect(err).toContain(`seal-broken: it does not have exactly two lines\n  ${sealKey(10)}\n`);
      expect(err).toContain('… and 4 more keys; verify --json has all');
    });

    const asRecorded = 'As recorded: whether the objects are there was not looked at; list and verify do.\n';

    it('behind a change of the signing key, whose keys it takes', async () => {
      const other = signingKeys();
      await seals.seal({ at: day(21, 3), keys: other, state: { open: counted(open, 9) } });
      const { code, err } = await collector('runs');
      const untrusted = `seal-broken: it is signed with a key that is not trusted\n  ${sealKey(3)}\n`;
      expect([code, err]).toEqual([1, `${untrusted}${asRecorded}`]);
      const file = `${archive.folder}-keys.pem`;
      await writeFile(file, seals.publicKey + other.publicKey.export({ format: 'pem', type: 'spki' }));
      const { code: found, out, err: said } = await collector('runs', '--public-key', file);
      await rm(file);
      expect([found, said, out]).toEqual([1, asRecorded, expect.stringContaining('DAMAGE open since')]);
    });
  });

  it('open damage is told by seals, runs and verify, and does not fail once all of it is acknowledged', async () => {
    const keys = (['log', 'manifest'] as const).map((resource) => keyOf(resource, 'alpha', day(18, 8)));
    for (const key of keys) await rm(join(archive.folder, key));
    const since = day(20, 3).toISOString();
    const open = keys.map((key) => ({ kind: 'missing' as const, key, problem: 'it is not there', since }));
    const reasons = open.map(({ kind, key }) => ({ kind, key, why: 'migrated' }));
    const told = async (at: number, acknowledged: Seal['plan']['acknowledged']) => {
      await seals.seal({
        at: day(at, 3),
        state: { open: counted(open, 9) },
        changes: { plan: { ...sealedPlan, acknowledged } },
      });
      const [listed, runs, verified] = [await verify('--seals'), await collector('runs'), await verify()];
      const lines = [listed.out.split('\n').at(-2), runs.out.split('\n')[0], verified.out.split('\n').at(-2)];
      return { codes: [listed.code, runs.code, verified.code], lines, listed: listed.out, verified: verified.out };
    };
    const damage = 'DAMAGE open since 2026-11-20T03:00:00Z:';

    const none = await told(21, []);
    const ofNone = `${damage} 2, says seal 3 of 2026-11-21T03:00:00Z.`;
    const advice = 'What to do: docs/alarms.md, "Audit found damage".';
    expect(none.lines).toEqual([ofNone, ofNone, `Something is wrong. Found: 2 missing, 1 absent. ${advice}`]);
    expect(none.codes).toEqual([1, 1, 1]);
    expect(none.listed).toMatch(
      /^missing: it is not there; open since the seal of 2026-11-20T03:00:00Z\n {2}logs\/cluster=alpha/m,
    );
    expect(none.listed).toMatch(/│ +3 │ .*│ 2 damaged +│ in it/);
    expect(none.verified).toMatch(/open since the seal of\s/);
    const openDamage = { count: 2, since, acknowledged: 0 };
    expect(JSON.parse((await collector('runs', '--json')).out).at(-1)).toMatchObject({ openDamage });
    const ofCluster = JSON.parse((await collector('runs', '--cluster', 'alpha', '--json')).out);
    expect(ofCluster.at(-1)).toMatchObject({ outcomes: expect.any(Array), openDamage });

    const half = await told(22, reasons.slice(1));
    const ofHalf = `${damage} 1, and 1 acknowledged finding, says seal 4 of 2026-11-22T03:00:00Z.`;
    const found = 'Found: 2 missing, 1 absent.';
    expect(half.lines).toEqual([ofHalf, ofHalf, `Something is wrong. ${found} 1 finding acknowledged. ${advice}`]);
    expect(half.codes).toEqual([1, 1, 1]);

    const all = await told(23, reasons);
    const ofAll = '2 acknowledged findings, says seal 5 of 2026-11-23T03:00:00Z.';
    expect(all.lines).toEqual([ofAll, ofAll, `All damage is acknowledged. ${found} 2 findings acknowledged.`]);
    expect(all.codes).toEqual([0, 0, 0]);
    expect(all.listed).toContain('2026-11-20T03:00:00Z; acknowledged: migrated');
    const findings = [{ since, acknowledged: 'migrated' }, {}, {}];
    expect(JSON.parse((await verify('--json')).out)).toMatchObject({ ok: true, acknowledged: 2, findings });
  });

  describe('verify --print-keys', () => {
    it('prints the key that signed them, and nothing else', async () => {
      const { code, out, err } = await verify('--print-keys');
      expect([code, out]).toEqual([0, seals.publicKey]);
      expect(err).toContain('signed 2 seals, the first of them 1. Keep it outside the account.');
    });

    it('prints both keys where the key was changed, and says so', async () => {
      const next = signingKeys();
      for (const at of [21, 22]) await seals.seal({ at: day(at, 3), keys: next });
      const { code, out, err } = await verify('--print-keys');
      expect([code, out]).toEqual([1, seals.publicKey + next.publicKey.export({ format: 'pem', type: 'spki' })]);
      expect(err).toContain(
        'seal-broken: it and those up to number 4 are signed with another key than the seals before',
      );
      const file = `${archive.folder}.pem`;
      await writeFile(file, out);
      expect((await verify('--public-key', file)).code).toBe(0);
    });
  });

  describe('verify', () => {
    it('says whose word the seals are, and which is the newest', async () => {
      const own = await verify();
      expect(own.code).toBe(0);
      expect(own.out).toContain(
        `2 seals, the newest is number 2 of 2026-11-20T03:00:00Z, SHA-256 ${hashes[1]}, of the archive archive-bucket.\n`,
      );
      expect(own.out).toContain("the archive's own key, which proves little");
      const file = `${archive.folder}.pem`;
      await writeFile(file, seals.publicKey);
      const kept = await verify('--public-key', file, '--head', hashes[0] ?? '');
      expect([kept.code, kept.out]).toEqual([0, expect.stringContaining('checked with the keys given.')]);
    });

    it('says that no seal is signed rightly; and seals prints no key of such a one', async () => {
      for (const number of [1, 2]) await seals.put(await seals.read(number), { signed: 'e'.repeat(64) });
      const { code, out } = await verify();
      expect([code, out]).toEqual([1, expect.stringContaining('Seals are there, and none is right: ')]);
      const keys = await verify('--print-keys');
      expect(keys).toEqual({ code: 3, out: '', err: expect.stringContaining('it has no signed seal') });
    });

    const otherKind = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
    const privateKey = signingKeys().privateKey.export({ format: 'pem', type: 'pkcs8' });

    it.each([
      ['is not there', undefined],
      ['is not a key', 'no key'],
      ['is not a whole key', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'],
      ['has a key of another kind', otherKind],
      ['is a private key', privateKey],
    ])('refuses a file of keys that %s', async (_, content) => {
      const file = `${archive.folder}-bad.pem`;
      if (content !== undefined) await writeFile(file, content);
      const { code, out, err } = await verify('--public-key', file);
      expect([code, out]).toEqual([2, '']);
      expect(err).toMatch(/^error: --public-key \S+: (expected|it cannot be read: ENOENT)/);
    });
  });
});
