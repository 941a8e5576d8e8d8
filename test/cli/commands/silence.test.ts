import { type ArchiveFixture, plainAnswer } from '../archive-fixture';
import { asBucket, dead, everyFourHours, healthy, operatorArchive, operatorRuns, runAt } from '../operator-archive';
import { runCollector } from '../run-collector';

/** A clock that is wrong, which no command goes by that reads a bucket. */
const laptop = new Date('2025-11-20T01:00:00Z');

describe('silence, in an archive of 60 runs', () => {
  let archive: ArchiveFixture;
  let bucket: Awaited<ReturnType<typeof asBucket>>;
  const hoursLater = (hours: number) => new Date(runAt(operatorRuns - 1).getTime() + hours * 3_600_000);

  beforeAll(async () => {
    archive = await operatorArchive(8);
    bucket = await asBucket(archive.folder);
  });
  afterAll(async () => {
    await bucket.close();
  });

  const runs = (location: string, now: Date, ...args: string[]) => {
    bucket.time = now;
    return runCollector(['runs', '--archive', location, ...args], { now: location.startsWith('s3') ? laptop : now });
  };

  it('is said first of a bucket, with exit code 1, and the runs that are overdue are a row', async () => {
    const { code, out } = await runs(bucket.location, hoursLater(42));
    expect(out.split('\n')[0]).toBe(
      'OVERDUE: 10 scheduled runs since 2025-11-20T00:00:00Z are missing, unless the schedule was switched off or the stack removed.',
    );
    expect(out).toMatch(/│ 2025-11-20T00:00:00Z │ .*│ absent: 10 runs up to 2025-11-21T12:00:00Z +│\n└/);
    expect(code).toBe(1);
  });

  it('is the silence of the schedule, however many runs a person started since', async () => {
    const other = await archive.copy();
    const start = hoursLater(30).getTime();
    const manual = {
      clusters: [healthy],
      answer: plainAnswer,
      trigger: 'manual',
      configuration: { clusters: [{ uid: healthy }, { uid: dead }], schedule: everyFourHours },
    } as const;
    for (let at = 0; at < 25; at += 1) await other.attempt({ ...manual, run: new Date(start + at * 60_000) });
    const served = await asBucket(other.folder);
    served.time = hoursLater(42);
    const { code, out } = await runCollector(['runs', '--archive', served.location], { now: laptop });
    await served.close();
    expect(out).toMatch(/^OVERDUE: 10 scheduled runs since 2025-11-20T00:00:00Z are missing/);
    expect(code).toBe(1);
  });

  it('begins when the run has had its time and the margin of the alarm, and not before', async () => {
    expect((await runs(bucket.location, hoursLater(5.99))).code).toBe(0);
    const { code, out } = await runs(bucket.location, hoursLater(6));
    expect(out).toMatch(/^OVERDUE: the scheduled run of 2025-11-20T00:00:00Z is missing, unless/);
    expect(code).toBe(1);
  });

  it('is said too of one run, and in JSON by absent elements, the last of which has the stale clusters', async () => {
    const now = hoursLater(11);
    const one = await runs(bucket.location, now, '--run', runAt(59).toISOString());
    expect(one.out).toMatch(/^OVERDUE: 2 scheduled runs since/);
    expect(one.code).toBe(1);
    const { out, code } = await runs(bucket.location, now, '--last', '1', '--json');
    expect(JSON.parse(out)).toMatchObject([
      { run: '2025-11-19T20:00:00.000Z', status: 'incomplete' },
      { run: '2025-11-20T00:00:00.000Z', status: 'absent' },
      { run: '2025-11-20T04:00:00.000Z', status: 'absent', stale: [{ cluster: 'c-003' }] },
    ]);
    expect(code).toBe(1);
  });

  it('is the age of the newest run in a folder, which is a copy', async () => {
    const { code, out } = await runs(archive.folder, hoursLater(42));
    expect(out).toMatch(/^Newest run 2025-11-19T20:00:00Z, 42 h ago: incomplete, 14 of 16 archived\n/m);
    expect(out).not.toContain('OVERDUE');
    expect(code).toBe(0);
  });

  it('up to now is absent for verify of a bucket, and not of a copy or a period that ends', async () => {
    const absentOf = async (...args: string[]) => {
      bucket.time = hoursLater(42);
      const { out } = await runCollector(['verify', '--json', '--from', '2025-11-19T20:00', ...args]);
      return JSON.parse(out).findings.filter(({ kind }: { kind: string }) => kind === 'absent');
    };
    const key = expect.stringMatching(/^runs\/date=2025-11-20/);
    const problem = expect.stringMatching(/scheduled runs from 2025-11-20/);
    expect(await absentOf('--archive', bucket.location)).toMatchObject([{ key, problem }]);
    expect(await absentOf('--archive', archive.folder)).toEqual([]);
    expect(await absentOf('--archive', bucket.location, '--to', '2025-11-19T22:00')).toEqual([]);
  });
});
