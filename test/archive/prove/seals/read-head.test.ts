import type { Finding } from '../../../../archive/format/finding';
import { readHead } from '../../../../archive/prove/seals/read-chain';
import { planOf } from '../../../../archive/prove/seals/seal-plans';
import { FolderArchiveReader } from '../../../../archive/read/folder-archive-reader';
import { ArchiveFixture, hourly } from '../../../cli/archive-fixture';
import { SealFixture, sealedPlan, signingKeys } from '../../../cli/seal-fixture';

describe('the newest right seal', () => {
  let archive: ArchiveFixture;
  let seals: SealFixture;
  let findings: Finding[];
  const at = (hours: number) => new Date(Date.UTC(2026, 10, 21, hours));
  const head = () => {
    findings = [];
    const find = (kind: Finding['kind'], key: string, problem: string) => void findings.push({ kind, key, problem });
    return readHead(new FolderArchiveReader(archive.folder), {}, find);
  };
  const plan = async () => {
    const { head: seal } = await head();
    return seal && planOf(seal);
  };

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    seals = new SealFixture(archive);
  });

  it('is the last, with its state, its time and its shards', async () => {
    expect(await plan()).toBeUndefined();
    await seals.seal({ at: at(1) });
    expect(await plan()).toMatchObject({ usedAt: at(1), shards: 1 });
    await seals.seal({
      at: at(2),
      changes: { plan: { ...sealedPlan, shards: 4 } },
      state: { open: { count: 7, first: [] } },
    });
    const found = await plan();
    expect(found).toMatchObject({ usedAt: at(2), shards: 4 });
    expect(found?.firings?.includes(at(5))).toBe(true);
    expect((await head()).state.open.count).toBe(7);
  });

  it('has a plan without firings if the schedule is disabled, or its expression cannot be read', async () => {
    await seals.seal({ at: at(1), changes: { plan: { ...sealedPlan, schedule: { ...hourly, enabled: false } } } });
    expect(await plan()).toMatchObject({ usedAt: at(1), firings: undefined });
    const schedule = { ...hourly, expression: 'cron(nonsense)' };
    await seals.seal({ at: at(2), changes: { plan: { ...sealedPlan, schedule } } });
    expect(await plan()).toMatchObject({ firings: undefined });
  });

  it.each<[string, (wrong: SealFixture) => Promise<unknown>]>([
    ['that another key signed', (wrong) => wrong.seal({ at: at(3), keys: signingKeys() })],
    [
      'whose signature is of something else',
      async (wrong) => wrong.put(await numbered(wrong, 2), { signed: 'e'.repeat(64) }),
    ],
    ['of another number', async (wrong) => wrong.put(await numbered(wrong, 7), { number: 2 })],
  ])('is not a file %s: the one before counts', async (_, put) => {
    await seals.seal({ at: at(1) });
    await put(seals);
    expect(await plan()).toMatchObject({ usedAt: at(1) });
  });

  it('lies below any number of files that are not right, each of which is found', async () => {
    await seals.seal({ at: at(1) });
    for (let number = 2; number < 12; number += 1)
      await seals.put(await numbered(seals, number), { signed: 'e'.repeat(64) });
    expect(await plan()).toMatchObject({ usedAt: at(1) });
    expect(findings.map(({ kind }) => kind)).toEqual(Array.from({ length: 10 }, () => 'seal-broken'));
  });
});

/** A later seal than the first, whose time tells which of them was taken. */
async function numbered(seals: SealFixture, number: number) {
  return { ...(await seals.read(1)), number, listedFrom: '2026-11-21T09:00:00.000Z' };
}
