import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FolderArchiveReader } from '../../../cli/archive/folder-archive-reader';
import { sealKey } from '../../../lambda/archive/archive-layout';
import { Vouching } from '../../../lambda/verify/vouching';
import { FolderStore } from '../../../local/aws/store/folder-store';
import { type ArchiveFixture, keyOf } from '../archive-fixture';
import { healthy, runAt } from '../operator-archive';
import { runCollector } from '../run-collector';
import { type SealFixture, signingKeys } from '../seal-fixture';
import { copyOf, forgeRun, recordOf, sealedOperatorArchive, sealOf } from '../sealed-operator-archive';

const now = runAt(61);
const at20 = runAt(20).toISOString();
const unsealed = runAt(57).toISOString();

describe('--check, in an archive of ten clusters and 60 runs with nine seals', () => {
  let archive: ArchiveFixture;
  let seals: SealFixture;
  const copies: string[] = [];

  beforeAll(async () => {
    ({ archive, seals } = await sealedOperatorArchive());
  });
  afterAll(() => Promise.all([archive.folder, ...copies].map((folder) => rm(folder, { recursive: true }))));

  const copied = async () => {
    const copy = await copyOf(archive.folder);
    copies.push(copy);
    return copy;
  };
  const collector = (folder: string, ...args: string[]) =>
    runCollector([...args, '--archive', folder, '--check'], { now });
  const show = (folder: string, run = at20, ...args: string[]) =>
    collector(folder, 'show', healthy, '--run', run, ...args);
  const vouchedBy = (at: number) =>
    `seal ${sealOf(at)} of ${new Date(runAt(6 * sealOf(at)).getTime() - 3_600_000).toISOString().replace('.000', '')}`;

  it('says which seal vouches for what show shows, and which key says so', async () => {
    const { code, out, err } = await show(archive.folder);
    expect([code, out]).toEqual([0, `kind: Namespace # ${healthy}\n`]);
    expect(err).toContain(`Vouched for by ${vouchedBy(20)}.\n`);
    expect(err).toContain("archive's own key; --public-key takes one that you kept.\n");
    const kept = `${archive.folder}.pem`;
    await writeFile(kept, seals.publicKey);
    const withKey = await show(archive.folder, at20, '--public-key', kept);
    await rm(kept);
    expect([withKey.code, withKey.err]).toEqual([0, expect.not.stringContaining('own key')]);
    const { vouched } = JSON.parse((await show(archive.folder, at20, '--json')).out);
    expect(vouched).toEqual({
      seal: { number: sealOf(20), seal: expect.any(String), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      record: recordOf(20),
    });
  });

  it.each([0, 20, 53])('reads one run record and few of the seals, for run %i', async (at) => {
    const opened: string[] = [];
    const reader = new FolderArchiveReader(archive.folder);
    const open = reader.open.bind(reader);
    reader.open = (key) => {
      opened.push(key);
      return open(key);
    };
    const key = keyOf('manifest', healthy, runAt(at));
    const { sha256 = '' } = (await reader.head(key))?.metadata ?? {};
    const name = { key, resource: 'manifest', cluster: healthy, run: runAt(at) } as const;
    const vouched = await new Vouching(reader).ofObject(name, sha256);
    expect(vouched).toMatchObject({ seal: { number: sealOf(at) }, record: recordOf(at) });
    expect(opened.filter((one) => one.startsWith('runs/'))).toEqual([recordOf(at)]);
    // The first tells the key. Four halve nine of them, and one is the one.
    expect(opened.filter((one) => one.startsWith('seals/')).length).toBeLessThanOrEqual(6);
  });

  it('does not vouch for what no audit has sealed yet', async () => {
    const { code, out, err } = await show(archive.folder, unsealed);
    expect([code, out]).toEqual([1, expect.stringContaining('upgraded')]);
    expect(err).toContain(
      `Not vouched for: manifest of ${healthy}, run ${unsealed.replace('.000', '')}: no seal has its run record`,
    );
  });

  const remove = (key: string) => (folder: string) => rm(join(folder, key), { recursive: true });
  const forgeBoth = (folder: string) => forgeRun(folder, 20, true);
  const forgeObject = (folder: string) => forgeRun(folder, 20, false);

  it.each([
    ['a record and its object that were replaced together', forgeBoth, /is not what seal 4 has: it was replaced/],
    ['an object replaced with its metadata', forgeObject, /attempt-1.jsonl has another SHA-256 of it/],
    ['a record that was removed', remove(recordOf(20)), /attempt-1.jsonl, which seal 4 has, is not there/],
    ['no seals', remove('seals'), /the archive is not sealed/],
    ['no right seal of that day', remove(sealKey(4)), /no seal has its run record/],
  ])('does not vouch for %s', async (what, does, problem) => {
    const folder = await copied();
    await does(folder);
    const { code, err } = await show(folder);
    expect([code, err]).toEqual([1, expect.stringMatching(problem)]);
    expect((await show(folder, runAt(34).toISOString())).code).toBe(what === 'no seals' ? 1 : 0);
  });

  it('takes no seal of another key', async () => {
    const other = `${archive.folder}-other.pem`;
    await writeFile(other, signingKeys().publicKey.export({ format: 'pem', type: 'spki' }));
    const { code, err } = await show(archive.folder, at20, '--public-key', other);
    await rm(other);
    expect([code, err]).toEqual([1, expect.stringContaining('no seal is signed with a key that is trusted')]);
  });

  it('passes over files under keys of seals that are none', async () => {
    const folder = await copied();
    const store = new FolderStore(folder);
    for (const number of [1, 5, 6, 7]) await store.put(sealKey(number), Buffer.from('junk'), {});
    const { code, err } = await show(folder);
    expect([code, err]).toEqual([0, expect.stringContaining(`Vouched for by ${vouchedBy(20)}`)]);
  });

  it('says it of both sides of a diff', async () => {
    const one = await collector(archive.folder, 'diff', healthy, '--run', at20);
    expect([one.code, one.err]).toEqual([0, expect.stringContaining(`Vouched for 2 of 2 by ${vouchedBy(19)}.\n`)]);
    const edge = await collector(archive.folder, 'diff', healthy, '--run', runAt(54).toISOString());
    expect(edge.code).toBe(3);
    expect(edge.err).toContain(`Vouched for 1 of 2 by ${vouchedBy(53)}.\n`);
    const { from, to } = JSON.parse((await collector(archive.folder, 'diff', healthy, '--run', at20, '--json')).out);
    expect([from.vouched.record, to.vouched.record]).toEqual([recordOf(19), recordOf(20)]);
  });

  it('says it of each log that is joined, and of the one before them', async () => {
    const period = ['--from', runAt(18).toISOString(), '--to', at20];
    const { code, err } = await collector(archive.folder, 'log', healthy, ...period);
    const both = `Vouched for 4 of 4 by ${vouchedBy(17)} to ${vouchedBy(18)}.`;
    expect([code, err]).toEqual([0, expect.stringContaining(both)]);
    const folder = await copied();
    await rm(join(folder, recordOf(17)));
    const without = await collector(folder, 'log', healthy, ...period);
    const absent = /Not vouched for: log of c-001, run 2025-11-12T20:00:00Z: its run record .* is not there/;
    expect([without.code, without.err]).toEqual([1, expect.stringMatching(absent)]);
    const seams = JSON.parse((await collector(folder, 'log', healthy, ...period, '--json')).out);
    expect(seams.map(({ vouched }: { vouched: { record: string } }) => vouched.record)).toEqual(
      [18, 19, 20].map(recordOf),
    );
  });
});
