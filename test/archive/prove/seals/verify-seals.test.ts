import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { sealKey, sealStampKey } from '../../../../archive/format/keys';
import type { RunRecord } from '../../../../archive/format/run-record';
import type { PassedOver, Seal } from '../../../../archive/format/seal';
import { parseSeal } from '../../../../archive/format/seal-file';
import type { ArchiveFixture } from '../../../cli/archive-fixture';
import type { Verified } from '../../../cli/run-verify';
import { type SealFixture, signingKeys } from '../../../cli/seal-fixture';
import { on, recordKey, SealedDays, unsealedOf } from './sealed-days';

/** A key that signs, and is not of the curve of seals. */
const otherKey = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' });

const seal1 = sealKey(1);
const seal2 = sealKey(2);
const seal3 = sealKey(3);

describe('verify with seals', () => {
  /** Three days, each with its seal; every test has a copy. */
  let sealedDays: SealedDays;
  let days: SealedDays;
  let archive: ArchiveFixture;
  let seals: SealFixture;
  let keyFile: string;
  /** SHA-256 of each seal, the first one's first. */
  const hashes: string[] = [];
  const records: RunRecord[] = [];

  beforeAll(async () => {
    sealedDays = await SealedDays.create();
    keyFile = `${sealedDays.archive.folder}.pem`;
    await writeFile(keyFile, sealedDays.seals.publicKey);
    for (const day of [18, 19, 20]) {
      for (const hour of [8, 9]) records.push(await sealedDays.attempt(day, hour));
      hashes.push(await sealedDays.seals.seal({ at: on(day + 1, 3) }));
    }
  });

  beforeEach(async () => {
    days = await sealedDays.copy();
    ({ archive, seals } = days);
  });

  const verify = (...args: string[]) => days.verify(...args);
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
      const newest = { number: 3, seal: '2026-11-21T03:00:00.000Z', sha256: hashes[2], archive: 'archive-bucket' };
      expect([code, result.findings, result.sealed]).toEqual([0, [], { seals: 3, newest, stamps: [], late: [] }]);
    }
  });

  it.each([1, 2, 3])('knows the hash that the mail of seal %i told', async (number) => {
    expect(await verify('--head', hashes[number - 1]?.toUpperCase() ?? '')).toMatchObject({ code: 0, kinds: [] });
  });

  describe('in what is sealed', () => {
    it('finds in a period what was replaced in it, consistently', async () => {
      await days.attempt(19, 8, 'forged');
      expect((await verify('--from', '2026-11-19', '--to', '2026-11-19')).kinds).toEqual([
        `forged ${recordKey(19, 8)}`,
      ]);
      expect((await verify('--from', '2026-11-20')).kinds).toEqual([]);
    });

    it('tells once that a record is gone which a seal has, and which a later attempt shows to be missing', async () => {
      await days.attempt(19, 9, 'text', { attempt: 2, answer: () => ({ alreadyArchived: 'with hash' }) });
      await seals.seal({ at: on(22, 3) });
      await days.remove(recordKey(19, 9));
      expect((await verify()).kinds.filter((kind) => kind.startsWith('missing'))).toEqual([
        `missing ${recordKey(19, 9)}`,
      ]);
    });

    it('counts no object as sound that only a replaced record vouches for', async () => {
      const before = (await verify()).result.sound;
      await days.attempt(19, 8, 'forged');
      await days.attempt(19, 9, 'text', { attempt: 2, answer: () => ({ alreadyArchived: 'with hash' }) });
      await seals.seal({ at: on(22, 3) });
      await days.attempt(19, 9, 'text', { durationMs: 4300 });
      const { result, unvouched, problems } = await verify();
      expect(unvouched).toEqual(records[2]?.outcomes.map(({ key }) => key));
      expect([result.sound, result.found.unvouched]).toEqual([before - 4, 4]);
      expect(problems).toContain(`not vouched for by what is sealed, only by ${recordKey(19, 8)}`);
    });

    it.each([
      ['removed', (key: string) => days.remove(key)],
      ['made unreadable', (key: string) => archive.put(key, Buffer.from('no record'), {})],
    ])('finds no stranger in what is left of a run whose record was %s', async (_, does) => {
      await does(recordKey(19, 8));
      const { kinds, unvouched, result } = await verify();
      expect([kinds[0], result.found.unrecorded, result.found.unvouched]).toEqual([
        expect.stringMatching(/^(missing|forged) runs/),
        0,
        4,
      ]);
      expect([...unvouched].sort()).toEqual(records[2]?.outcomes.map(({ key }) => key).sort());
    });
  });

  describe('in the chain', () => {
    it.each([
      ['a seal behind it', seal3, { key: seal3, sha256: 'e'.repeat(64) }],
      ['none before it', seal3, null],
      ['the one before it by another key', seal3, { key: 'seals/2.jsonl', sha256: 'e'.repeat(64) }],
      ['the one before it with another hash', seal2, { key: seal2, sha256: 'e'.repeat(64) }],
    ])('finds a seal that names %s', async (_, key, previous) => {
      await seals.put({ ...(await seals.read(3)), previous });
      expect((await verify()).kinds).toContain(`seal-broken ${key}`);
    });

    it('finds that the seal of a kept mail is not in it', async () => {
      await seals.put({ ...(await seals.read(3)), previous: { key: seal2, sha256: 'e'.repeat(64) } });
      const problem = expect.stringMatching(`${hashes[1]}.* is not in the chain: the chain was rolled back or cut`);
      expect((await verify('--head', hashes[1] ?? '')).problems).toContainEqual(problem);
    });

    it('takes numbers that a seal has passed over for whole, and others for a gap', async () => {
      const [, , head = ''] = hashes;
      const previous = { key: seal3, sha256: head };
      const next = {
        ...(await seals.read(3)),
        previous,
        records: [],
        seal: on(22, 3).toISOString(),
        listedFrom: on(22, 3).toISOString(),
      };
      const [four, five] = [4, 5].map((number) => ({ number, sha256: null, why: 'junk' })) as [PassedOver, PassedOver];
      const passedOver = { count: 2, first: [four, five] };
      await seals.put({ ...next, number: 6, passedOver });
      expect(await verify('--head', hashes[0] ?? '', head)).toMatchObject({ code: 0, kinds: [] });
      for (const wrong of [{ passedOver: { count: 2, first: [five] } }, { passedOver: { count: 1, first: [four] } }]) {
        await seals.put({ ...next, number: 6, ...wrong });
        await expectBoth([`seal-broken ${sealKey(6)}`], /does not name the seal before it and everything between/);
      }
      await seals.put({ ...next, number: 6, passedOver: { count: 2, first: [four] } });
      expect((await verify()).kinds).toEqual([]);
    });

    it('finds headers that the audit does not write', async () => {
      await archive.put(seal2, await readFile(days.pathOf(seal2)), {}, { contentType: 'text/html' });
      await expectBoth([`seal-broken ${seal2}`], /text\/html/);
    });

    it('finds what is not a seal under seals/', async () => {
      await archive.put('seals/0000004.jsonl', Buffer.from('{}'), {});
      expect((await verify()).kinds).toEqual(['unrecorded seals/0000004.jsonl']);
    });

    it.each<[string, (content: string) => string]>([
      ['one line', (content) => content.slice(0, content.indexOf('\n') + 1)],
      ['two lines and the beginning of another', (content) => `${content}{`],
      ['three lines', (content) => `${content}\n`],
      ['two lines without an end', (content) => content.trimEnd()],
      ['nothing', () => ''],
      ['no JSON', () => 'no\nJSON\n'],
    ])('finds a file of a seal with %s', async (_, change) => {
      const content = Buffer.from(change(await readFile(days.pathOf(seal2), 'utf8')));
      await archive.put(seal2, content, {}, { contentType: 'application/x-ndjson' });
      const { code, kinds } = await verify();
      expect([code, kinds]).toEqual([1, [`seal-broken ${seal2}`, ...unsealedOf(19)]]);
    });

    it('finds a signed line that is not a seal', async () => {
      await seals.put({ ...(await seals.read(2)), version: 2 } as unknown as Seal);
      await expectBoth([`seal-broken ${seal2}`, ...unsealedOf(19)], /it is not a valid seal: version/);
      expect(parseSeal(Buffer.from('no JSON'))).toBe('it is not JSON');
    });

    it('finds two seals that give one record two hashes', async () => {
      const [record] = (await seals.read(1)).records;
      await seals.seal({
        at: on(22, 3),
        changes: { records: [{ key: record?.key ?? '', sha256: 'e'.repeat(64), bytes: 1 }] },
      });
      expect((await verify()).problems).toEqual([`seal 1 has another hash of ${record?.key}`]);
    });

    it('finds two seals that give one stamp two hashes', async () => {
      const key = sealStampKey({ number: 1, authority: 'one' });
      const named = (digit: string) => ({ stamps: [{ key, sha256: digit.repeat(64), bytes: 1 }] });
      await seals.seal({ at: on(22, 3), changes: named('d') });
      await seals.seal({ at: on(23, 3), changes: named('e') });
      expect((await verify()).problems).toContain(`seal 4 has another hash of ${key}`);
    });
  });

  describe('in signatures', () => {
    it('finds one of another key, unless all keys are given', async () => {
      const next = signingKeys();
      await seals.seal({ at: on(22, 3), keys: next });
      await expectBoth([`seal-broken ${sealKey(4)}`], /another key than|other than those given/);
      const nextFile = `${archive.folder}-next.pem`;
      await writeFile(nextFile, next.publicKey.export({ format: 'pem', type: 'spki' }));
      expect((await verify('--public-key', keyFile, nextFile)).kinds).toEqual([]);
      expect((await verify('--public-key', keyFile, '--public-key', nextFile)).kinds).toEqual([]);
      const { kinds, problems } = await verify('--public-key', nextFile);
      expect(problems[0]).toContain('up to number 3 are signed');
      // What they name is in no seal that anybody trusts.
      expect(kinds).toEqual([`seal-broken ${seal1}`, ...unsealedOf(18, 19, 20)]);
    });

    const change = async (pattern: RegExp, text: string) => {
      const content = (await readFile(days.pathOf(seal2), 'utf8')).replace(pattern, text);
      await archive.put(seal2, Buffer.from(content), {}, { contentType: 'application/x-ndjson' });
    };

    it.each([
      ['says the key, and was not made with it', /"signature":"[^"]*"/, '"signature":"MEUCIQ=="'],
      ['is not a signature', /\n.*\n/, '\n{}\n'],
      ['has no public key', /"publicKey":"[^"]*"/, '"publicKey":"AAAA"'],
      ['has a public key of another kind', /"publicKey":"[^"]*"/, `"publicKey":"${otherKey.toString('base64')}"`],
      ['is longer than a signature', /\n.*\n/, `\n${'['.repeat(70_000)}\n`],
    ])('finds one that %s', async (_, pattern, text) => {
      await change(pattern, text);
      await expectBoth([`seal-broken ${seal2}`, ...unsealedOf(19)], /signature/);
    });
  });

  it('says which firings the seals found absent, though no configuration shows them', async () => {
    await seals.seal({
      at: on(22, 3),
      changes: { due: { runs: 2, absent: ['2026-11-20T12:00:00.000Z'], notJudged: null } },
    });
    expect(await verify()).toMatchObject({ code: 0, kinds: ['absent runs/date=2026-11-20/20261120T120000.000Z.*'] });
    expect((await verify('--strict')).code).toBe(1);
  });
});
