import { DamagedObjectError } from '../../../../archive/format/damaged-object-error';
import type { RunRecordName } from '../../../../archive/format/keys';
import type { RecordHead } from '../../../../archive/format/run-record';
import { ArchiveReadError } from '../../../../archive/read/s3-archive-reader';
import { countsOfShards } from '../../../../lambda/collect/run/complete-shards';

const run = new Date('2026-11-20T12:00:00Z');
const counts = { archived: 3, alreadyArchived: 1, failed: 0, notAttempted: 0 };
type Said = Partial<RecordHead> | Error;

/** Records of a run: what each attempt of each shard says, in the order of attempts. */
function records(shards: readonly (readonly Said[])[]) {
  const said = new Map<RunRecordName, Said>();
  for (const [index, attempts] of shards.entries())
    for (const [at, one] of attempts.entries())
      said.set({ run, shard: { index, count: shards.length }, attempt: at + 1 }, one);
  const head = async (name: RunRecordName): Promise<RecordHead> => {
    const one = said.get(name);
    if (one instanceof Error) throw one;
    return { trigger: 'schedule', status: 'complete', counts, ...one } as RecordHead;
  };
  return { names: [...said.keys()], head };
}

const incomplete = /no record of the schedule says that the shard 1 of 2 is complete/;

it('adds up what the newest complete attempt of each shard says, with what only some of them have', async () => {
  const optional = { ...counts, optionalMissing: 2 };
  const doubtful = { ...counts, archived: 0, alreadyArchived: 4, doubts: 1 };
  const sum = await countsOfShards(
    run,
    3,
    records([[{}], [{ status: 'incomplete' }, { counts: optional }], [{}, { counts: doubtful }]]),
  );
  expect(sum).toEqual({ archived: 6, alreadyArchived: 6, failed: 0, notAttempted: 0, optionalMissing: 2, doubts: 1 });
});

it.each<[string, readonly Said[]]>([
  ['has no record', []],
  ['is incomplete', [{ status: 'incomplete' }]],
  ['was completed by a person alone, perhaps for some clusters', [{ status: 'incomplete' }, { trigger: 'manual' }]],
  ['has a list that was refused', [{ clusterList: { from: 's3://b/k', isInForce: false, problem: 'it is empty' } }]],
  ['has a damaged record', [new DamagedObjectError('it is damaged')]],
])('refuses a run of which a shard %s', async (_what, attempts) => {
  await expect(countsOfShards(run, 2, records([[{}], attempts]))).rejects.toThrow(incomplete);
});

it('looks behind a record that is damaged, incomplete or of a person, and not behind one that cannot be read now', async () => {
  for (const later of [
    new DamagedObjectError('it is damaged'),
    { status: 'incomplete' },
    { trigger: 'manual' },
  ] as const)
    expect(await countsOfShards(run, 1, records([[{}, later]]))).toEqual(counts);
  const unread = new ArchiveReadError('503');
  await expect(countsOfShards(run, 1, records([[{}, unread]]))).rejects.toBe(unread);
});

it('ends at the first shard that is not complete, however many are asked for', async () => {
  const { names, head } = records([[{}]]);
  let read = 0;
  const counting = (name: RunRecordName) => {
    read += 1;
    return head(name);
  };
  await expect(countsOfShards(run, 2 ** 40, { names, head: counting })).rejects.toThrow(/the shard 0 of 1099511627776/);
  expect(read).toBe(0);
});
