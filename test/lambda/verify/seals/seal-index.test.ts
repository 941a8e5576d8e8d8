import { rm } from 'node:fs/promises';
import { FolderArchiveReader } from '../../../../cli/archive/folder-archive-reader';
import { clockSlackMs } from '../../../../lambda/time-limits';
import { planOf, SealIndex } from '../../../../lambda/verify/seals/seal-index';
import { ArchiveFixture, hourly } from '../../../cli/archive-fixture';
import { SealFixture, sealedPlan, signingKeys } from '../../../cli/seal-fixture';

describe('the plan of the newest seal', () => {
  let archive: ArchiveFixture;
  let seals: SealFixture;
  const at = (hours: number) => new Date(Date.UTC(2026, 10, 21, hours));
  const plan = async () => {
    const seal = await new SealIndex(new FolderArchiveReader(archive.folder)).newest();
    return seal && planOf(seal);
  };

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    seals = new SealFixture(archive);
  });
  afterEach(() => rm(archive.folder, { recursive: true }));

  it('is that of the last, with its time and its shards', async () => {
    expect(await plan()).toBeUndefined();
    await seals.seal({ at: at(1) });
    expect(await plan()).toMatchObject({ usedAt: at(1), shards: 1 });
    await seals.seal({ at: at(2), changes: { plan: { ...sealedPlan, shards: 4 } } });
    const found = await plan();
    expect(found).toMatchObject({ usedAt: at(2), shards: 4 });
    expect(found?.firings?.includes(at(5))).toBe(true);
  });

  it('has no firings if the schedule is disabled, and is none if its expression cannot be read', async () => {
    await seals.seal({ at: at(1), changes: { plan: { ...sealedPlan, schedule: { ...hourly, enabled: false } } } });
    expect(await plan()).toMatchObject({ usedAt: at(1), firings: undefined });
    const schedule = { ...hourly, expression: 'cron(nonsense)' };
    await seals.seal({ at: at(2), changes: { plan: { ...sealedPlan, schedule } } });
    expect(await plan()).toBeUndefined();
  });

  it.each<[string, (wrong: SealFixture) => Promise<unknown>]>([
    ['that another key signed', (wrong) => wrong.seal({ at: at(3), keys: signingKeys() })],
    [
      'whose signature is of something else',
      async (wrong) => wrong.put(await numbered(wrong, 2), { signed: 'e'.repeat(64) }),
    ],
    ['of another number', async (wrong) => wrong.put(await numbered(wrong, 7), { number: 2 })],
  ])('is not that of a file %s: the one before counts', async (_, put) => {
    await seals.seal({ at: at(1) });
    await put(seals);
    expect(await plan()).toMatchObject({ usedAt: at(1) });
  });

  it('is looked for in the last five files, and then not known', async () => {
    await seals.seal({ at: at(1) });
    for (const number of [2, 3, 4, 5]) await seals.put(await numbered(seals, number), { signed: 'e'.repeat(64) });
    expect(await plan()).toMatchObject({ usedAt: at(1) });
    await seals.put(await numbered(seals, 6), { signed: 'e'.repeat(64) });
    expect(await plan()).toBeUndefined();
  });
});

it('the seals since a time are those that began to list then or later, whichever files between them are wrong', async () => {
  const archive = await ArchiveFixture.create();
  const seals = new SealFixture(archive);
  const listed = (number: number) => new Date(Date.UTC(2026, 10, 21, 3 * number));
  for (let number = 1; number <= 9; number += 1) await seals.seal({ at: listed(number) });
  for (const number of [1, 4, 5, 9]) await seals.put(await seals.read(number), { signed: 'e'.repeat(64) });
  for (let number = 0; number <= 10; number += 1) {
    const found: number[] = [];
    const time = new Date(listed(number).getTime() + clockSlackMs);
    for await (const seal of new SealIndex(new FolderArchiveReader(archive.folder)).since(time))
      found.push(seal.number);
    expect(found).toEqual([2, 3, 6, 7, 8].filter((one) => one >= number));
  }
});

/** A later seal than the first, whose time tells which of them was taken. */
async function numbered(seals: SealFixture, number: number) {
  return { ...(await seals.read(1)), number, listedFrom: '2026-11-21T09:00:00.000Z' };
}
