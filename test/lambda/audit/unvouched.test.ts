import { archivedIn, forgeRun, remove } from './attack-tools';
import { attackedWorld } from './attacks';
import type { SealedWorld } from './sealed-world';

const run = '20261121T060000.000Z';
const recordKey = `runs/date=2026-11-21/${run}.attempt-1.jsonl`;

describe('what a sealed run record no longer vouches for', () => {
  it.each<[string, (world: SealedWorld) => unknown, string]>([
    ['replaced', ({ bucket }) => forgeRun(bucket, run), `only by ${recordKey}`],
    ['removed', ({ bucket }) => remove(bucket, [recordKey]), `${recordKey}, which is sealed, is gone`],
  ])('is counted and named by the audit that finds that the record was %s', async (_, does, why) => {
    const world = await attackedWorld();
    const objects = archivedIn(world.bucket, recordKey);
    await does(world);
    const { result, mails } = await world.audit('2026-11-23T23:30:00.000Z');
    const { found, findings } = world.seal(result?.number ?? 0);
    const unvouched = findings.filter(({ kind }) => kind === 'unvouched');
    expect([objects.length, found.unvouched]).toEqual([objects.length, objects.length]);
    expect(objects.length).toBeGreaterThan(0);
    expect(unvouched.map(({ key }) => key).sort()).toEqual([...objects].sort());
    expect(unvouched[0]?.problem).toContain(why);
    // It is the record that is damaged.
    expect(result?.damage).toBe(1);
    expect(mails.at(-1)?.text).toContain(
      `Unvouched, because their run records were replaced or are gone: ${objects.length}\n  `,
    );
  });
});
