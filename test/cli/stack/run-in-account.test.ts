import { runRecordKey } from '../../../archive/format/keys';
import { FolderArchiveReader } from '../../../archive/read/folder-archive-reader';
import { followRun } from '../../../cli/stack/run-in-account';
import type { ProgressState } from '../../../cli/terminal/progress';
import { ArchiveFixture, answerBut } from '../archive-fixture';

const run = new Date('2026-11-20T12:00:00Z');
const clusters = ['alpha', 'beta'];

describe('following a run', () => {
  let archive: ArchiveFixture;
  let startedAt: Date;
  let states: Partial<ProgressState>[];

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    startedAt = new Date();
    states = [];
  });

  /** @param steps what happens between two looks, and the time at the next one in milliseconds after the start */
  async function follow(
    steps: (readonly [happens: () => Promise<unknown>, elapsedMs: number])[],
    earlier: string[] = [],
  ) {
    let elapsed = 0;
    return followRun({
      ...{ run, earlier: new Set(earlier), startedAt, executionArn: undefined, region: 'eu-central-1' },
      reader: new FolderArchiveReader(archive.folder),
      progress: { update: (state) => states.push(state) },
      now: () => new Date(startedAt.getTime() + elapsed),
      wait: async () => {
        const [happens, elapsedMs] = steps.shift() ?? [() => Promise.reject(new Error('nothing happens any more')), 0];
        await happens();
        elapsed = elapsedMs;
      },
    });
  }

  const fails = (attempt: number) => () =>
    archive.attempt({ run, attempt, clusters, answer: answerBut({ beta: { failed: 'x' } }) });
  const nothing = async () => {};

  it('says how many attempts have ended, and how long ago it was started', async () => {
    const completes = () => archive.attempt({ run, attempt: 2, clusters, answer: () => ({ content: 'x' }) });
    const { run: ended } = await follow([
      [nothing, 5000],
      [fails(1), 10_000],
      [nothing, 600_000],
      [completes, 610_000],
    ]);
    expect(ended?.status).toBe('complete');
    expect(states.map(({ now, done, total }) => [now, done, total])).toEqual([
      ['0 attempts ended, 0 ms since the start', undefined, undefined],
      ['0 attempts ended, 5.0 s since the start', undefined, undefined],
      ['1 attempt ended, 10.0 s since the start', 2, 4],
      ['1 attempt ended, 10 min 00 s since the start', 2, 4],
    ]);
  });

  it('counts only the attempts since the start where an earlier run is completed', async () => {
    for (const attempt of [1, 2, 3]) await fails(attempt)();
    const earlier = [1, 2, 3].map((attempt) => runRecordKey({ run, attempt }));
    const completes = () => archive.attempt({ run, attempt: 4, clusters, answer: () => ({ content: 'x' }) });
    const { run: ended } = await follow([[completes, 1000]], earlier);
    expect(ended).toMatchObject({ status: 'complete', attempts: 4 });
    expect(states).toEqual([{ now: '0 attempts ended, 0 ms since the start' }]);
  });

  it('gives up when every attempt has had its time, without a record', async () => {
    const { run: ended } = await follow([[nothing, 3 * 900_000 + 480_001]]);
    expect(ended).toBeUndefined();
  });
});
