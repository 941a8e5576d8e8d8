import { type SealFixture, sealedPlan } from '../../../cli/seal-fixture';
import { objectOf, on, recordKey, SealedDays, schedule } from './sealed-days';

describe('verify with seals and a lifecycle', () => {
  const plan = { ...sealedPlan, schedule, retentionDays: 30 };
  let days: SealedDays;
  let seals: SealFixture;
  const at = (day: string) => days.verifyAt(new Date(day));

  beforeEach(async () => {
    days = await SealedDays.create();
    ({ seals } = days);
    const configuration = { schedule, retentionDays: 30 };
    for (const hour of [8, 9]) await days.attempt(18, hour, 'text', { configuration });
    await seals.seal({ at: on(19, 3), changes: { plan } });
    await days.attempt(19, 8, 'text', { configuration });
    await seals.seal({ at: on(20, 3), changes: { plan } });
  });

  it('excuses what a sealed retention may have removed', async () => {
    await days.removeRun(18, 8);
    expect(await at('2026-12-18T09:00:00Z')).toMatchObject({ code: 0, kinds: [] });
    expect(await at('2026-12-17T09:00:00Z')).toMatchObject({ code: 1, kinds: [`missing ${recordKey(18, 8)}`] });
  });

  it('excuses nothing by a retention that ended before it was over', async () => {
    await seals.seal({ at: on(21, 3), changes: { plan: { ...sealedPlan, schedule } } });
    await days.removeRun(18, 8);
    expect((await at('2026-12-18T09:00:00Z')).kinds).toEqual([`missing ${recordKey(18, 8)}`]);
  });

  it('excuses a late completion of an old run only from the listing before its seal on', async () => {
    await seals.seal({ at: on(44, 3), changes: { plan } });
    await days.attempt(18, 9, 'text', { attempt: 2, answer: () => ({ alreadyArchived: 'with hash' }) });
    await days.attempt(18, 9, 'text', { attempt: 3, answer: () => ({ alreadyArchived: 'with hash' }) });
    await seals.seal({ at: on(45, 3), changes: { plan } });
    await days.remove(recordKey(18, 9, 3));
    expect((await at('2026-12-20T09:00:00Z')).kinds).toEqual([`missing ${recordKey(18, 9, 3)}`]);
    // Of one in between, the gap between its neighbours is excused by the time of its run: the seal knows better.
    await days.remove(recordKey(18, 9, 2));
    await days.attempt(18, 9, 'text', { attempt: 3, answer: () => ({ alreadyArchived: 'with hash' }) });
    expect((await at('2026-12-20T09:00:00Z')).kinds).toContain(`missing ${recordKey(18, 9, 2)}`);
  });

  it('excuses of a part only what was over when it was taken', async () => {
    await days.remove(objectOf(18, 8));
    const verifyPart = (...args: string[]) => days.verifyAt(on(50, 9), ...args);
    expect((await verifyPart()).kinds).not.toContain(`missing ${objectOf(18, 8)}`);
    expect((await verifyPart('--part', '--cluster', 'alpha')).kinds).toContain(`missing ${objectOf(18, 8)}`);
  });

  it('with mails, excuses only by the retention of seals that they are of, and says what to do', async () => {
    const hash = await seals.seal({
      at: on(21, 3),
      changes: { plan: { ...plan, retentionDays: 1, shorterRetentions: [{ retentionDays: 1, why: 'x' }] } },
    });
    const sealed = (await seals.read(3)).previous?.sha256 ?? '';
    await days.removeRun(18, 8);
    const verifyAt = (...args: string[]) => days.verifyAt(new Date('2026-11-22T00:00:00Z'), ...args);
    expect((await verifyAt()).kinds).toEqual([]);
    expect((await verifyAt('--head', sealed, hash)).kinds).toEqual([]);
    const { kinds, problems } = await verifyAt('--head', sealed);
    expect(kinds).toEqual([`missing ${recordKey(18, 8)}`]);
    const advice =
      'excused only by seal 3, which no mail that you gave is of: give the hash of its mail, or of a later';
    expect(problems).toEqual([expect.stringContaining(advice)]);
  });
});
