import { seededRandom } from '../../../local/demo-service/seeded-random';
import { look, plan, SealedWorld } from './sealed-world';
import { unsignedAttacks } from './unsigned-attacks';

/** The worst that is found of each. Only mails, and versions of objects, tell more of a seal that was cut off. */
const found: Readonly<Record<string, string>> = {
  'a configuration of one day stored, and a sealed object deleted': 'missing',
  'a run planted that says it was fetched 500 days ago': 'unsealed',
  'such a run, and its objects deleted': 'missing',
  'a record that finished after S3 wrote it': 'contradiction',
  'a record whose attempt took 400 days': 'contradiction',
  'a record of what was fetched before it began': 'contradiction',
  'a later record that gives another time': 'contradiction',
  'a record that names a disabled schedule': 'absent',
  'a record of the year 9999 that names a disabled schedule': 'contradiction',
  'the newest seal cut off': 'absent',
  'junk under a high number of a seal': 'seal-broken',
  'a second line of a seal with more members': 'seal-broken',
  'a lie behind the newest seal': 'seal-broken',
  'an old right seal under the next number': 'seal-broken',
  'a seal replaced by a lie': 'seal-broken',
  'an object replaced with its metadata': 'contradiction',
  'a run record and its objects deleted': 'missing',
};

describe('who may write and delete everything, and cannot sign, is found out by the next audit and by verify', () => {
  it.each(Object.entries(unsignedAttacks))('%s', async (name, attack) => {
    const world = new SealedWorld();
    await world.live(20, 21);
    await attack(world, seededRandom('one'), new Date('2026-11-22T01:00:00.000Z'));
    // The run of 12 o'clock does not happen.
    await world.collectDay(22, [], ['00', '06', '18']);
    const { result } = await world.audit('2026-11-22T23:30:00.000Z', { plan: { ...plan, rereadDays: 1 } });
    world.bucket.clock = new Date('2026-11-23T12:00:00.000Z');
    const verified = new Set((await look(world.bucket)).map(({ kind }) => kind));
    expect(verified).toContain(found[name]);
    expect(verified).toContain('absent');
    const audited = Object.keys(result?.found ?? {}).filter((kind) => kind !== 'unvouched');
    expect(audited.sort()).toEqual([...verified].filter((kind) => kind !== 'unvouched').sort());
  });
});

it('a record of the year 9999 does not silence what is due after later runs', async () => {
  const world = new SealedWorld();
  await world.collectDay(20);
  const attack = unsignedAttacks['a record of the year 9999 that names a disabled schedule'];
  await attack?.(world, seededRandom('one'), new Date('2026-11-20T19:00:00.000Z'));
  await world.collectDay(21);
  world.bucket.clock = new Date('2026-11-23T12:00:00.000Z');
  const absent = (await look(world.bucket)).filter(({ kind }) => kind === 'absent');
  expect(absent.map(({ problem }) => problem)).toEqual([
    expect.stringContaining('5 scheduled runs from 2026-11-22T00:00:00.000Z to 2026-11-23T00:00:00.000Z'),
  ]);
});
