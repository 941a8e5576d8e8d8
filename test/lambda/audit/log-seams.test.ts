import { emptyState, type LogsState } from '../../../archive/format/seal-state';
import { LogSeams } from '../../../lambda/audit/log-seams';
import { logFigures, seamLines } from '../../../lambda/audit/seam-summary';
import { ArchivedLogs } from './archived-logs';

const hourMs = 3_600_000;
const at = (hour: number) => new Date(Date.UTC(2026, 10, 20) + hour * hourMs);
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, line) => `line ${from + line} of the log\n`).join('');

/** The same lines, the last one first. */
const newestFirst = (text: string) => `${text.split('\n').slice(0, -1).reverse().join('\n')}\n`;

/** Audits the logs of cluster `c`, one an hour, that come up to an hour. */
class Audits {
  readonly archive = new ArchivedLogs();
  sealed: LogsState = emptyState.logs;
  #hour = 0;

  /** @param texts undefined: a record without a text; null: the run archived none */
  async audit(
    texts: readonly (string | undefined | null)[],
    { clusters = 20, isMailed = true, cluster = 'c' } = {},
  ): Promise<LogsState> {
    const seams = new LogSeams(this.archive.bucket, this.sealed, clusters);
    for (const text of texts) {
      const run = at(this.#hour);
      this.#hour += 1;
      if (text === null) continue;
      expect((await seams.check(this.archive.put(cluster, run, text))).problem).toBeUndefined();
    }
    seams.judged();
    this.sealed = seams.summary.result([cluster], isMailed);
    return this.sealed;
  }

  told(frozenAfterHours?: number): string {
    return seamLines(this.sealed, 'archive', frozenAfterHours).lines.join('\n');
  }
}

describe('the seams that an audit judges', () => {
  let audits: Audits;

  beforeEach(() => {
    audits = new Audits();
  });

  it('are not gaps where the log goes on, and gaps are named', async () => {
    const { gaps, frozen } = await audits.audit([
      lines(0, 10),
      lines(5, 15),
      lines(5, 15),
      lines(0, 12),
      undefined,
      lines(13, 113),
      lines(200, 210),
    ]);
    expect(frozen).toEqual([]);
    expect(gaps.first.map(({ from, to }) => [from, to])).toEqual([
      [at(2).toISOString(), at(5).toISOString()],
      [at(5).toISOString(), at(6).toISOString()],
    ]);
  });

  it('begin with the newest log before, which is read once more, whatever lies between', async () => {
    await audits.audit([lines(0, 10)]);
    audits.archive.opened = 0;
    const { gaps } = await audits.audit([null, null, lines(5, 15), lines(10, 20)]);
    expect(gaps.first).toEqual([]);
    expect(audits.archive.opened).toBe(3);
    await audits.audit([undefined]);
    expect((await audits.audit([lines(500, 510)])).gaps.first).toHaveLength(1);
  });

  it('of a log with more lines than are kept, are judged by the whole texts where they seem to be a gap', async () => {
    const clusters = 100_000;
    const heartbeats = `${lines(0, 30)}${'alive\n'.repeat(200)}`;
    const more = `${heartbeats}${'alive\n'.repeat(5)}`;
    const { gaps } = await audits.audit(
      [lines(0, 300), lines(0, 120), lines(250, 550), lines(700, 900), heartbeats, more],
      { clusters },
    );
    expect(gaps.first.map(({ from, to }) => [from, to])).toEqual([
      [at(2).toISOString(), at(3).toISOString()],
      [at(3).toISOString(), at(4).toISOString()],
    ]);
  });

  it.each<[string, (at: number) => string]>([
    ['are newest first', (at) => newestFirst(lines(5 * at, 5 * at + 50))],
    ['are newest first, and whole', (at) => newestFirst(lines(0, 5 * at + 50))],
    ['have another first and last line each', (at) => `at ${at}\n${lines(5 * at, 5 * at + 50)}until ${at}\n`],
    ['turn, and turn back', (at) => (at === 2 ? newestFirst : String)(lines(5 * at, 5 * at + 50))],
    ['change their line ends', (at) => lines(5 * at, 5 * at + 50).replaceAll('\n', at % 2 === 1 ? '\r\n' : '\n')],
  ])('of logs that %s are not gaps, and no log is frozen, be it kept whole or by few lines', async (_, textAt) => {
    for (const clusters of [1, 100_000]) {
      const own = new Audits();
      const texts = Array.from({ length: 8 }, (_each, at) => textAt(at));
      for (const some of [texts.slice(0, 5), texts.slice(5)]) {
        const { gaps, frozen } = await own.audit(some, { clusters });
        expect([gaps.first, frozen]).toEqual([[], []]);
      }
    }
  });

  it('of logs in which a line of the moment alone is new are frozen', async () => {
    const { frozen, gaps } = await audits.audit([1, 2, 3].map((at) => `at ${at}\n${lines(0, 50)}`));
    expect(gaps.first).toEqual([]);
    expect(frozen).toMatchObject([{ since: at(0).toISOString(), last: at(2).toISOString() }]);
  });

  it('leave out a log of an older run that was completed late', async () => {
    await audits.audit([lines(0, 10), lines(5, 15)]);
    const late = audits.archive.put('c', new Date(at(0).getTime() + hourMs / 2), lines(300, 310));
    const seams = new LogSeams(audits.archive.bucket, emptyState.logs, 1);
    await seams.check(audits.archive.put('c', at(2), lines(8, 18)));
    await seams.check(late);
    seams.judged();
    expect(seams.summary.result(['c'], true).gaps.first).toEqual([]);
  });

  it('of a slice that ended early do not count', async () => {
    const { archive } = audits;
    const seams = new LogSeams(archive.bucket, emptyState.logs, 1);
    await seams.check(archive.put('c', at(0), lines(0, 10)));
    seams.judged();
    await seams.check(archive.put('c', at(1), lines(500, 510)));
    expect(seams.summary.result(['c'], true).gaps.first).toEqual([]);
    seams.judged();
    expect(seams.summary.result(['c'], true).gaps.first).toHaveLength(1);
  });

  it('of a log that a run record names twice are judged once', async () => {
    const archive = new ArchivedLogs();
    const seams = new LogSeams(archive.bucket, emptyState.logs, 1);
    await seams.check(archive.put('c', at(0), lines(0, 10)));
    const twice = archive.put('c', at(1), lines(5, 15));
    const checked = await Promise.all([seams.check(twice), seams.check(twice)]);
    expect(checked.map(({ problem }) => problem)).toEqual([undefined, undefined]);
    seams.judged();
    expect(seams.summary.result(['c'], true)).toMatchObject({ gaps: { count: 0 }, frozen: [] });
  });

  it('of a damaged log say nothing, and the next is compared with the one before it', async () => {
    const { archive } = audits;
    const seams = new LogSeams(archive.bucket, emptyState.logs, 1);
    await seams.check(archive.put('c', at(0), lines(0, 10)));
    const damaged = archive.put('c', at(1), lines(400, 410));
    archive.bucket.corrupt(damaged.key, (body) => body.subarray(0, body.length - 9));
    expect((await seams.check(damaged)).problem?.kind).toBe('damaged');
    await seams.check(archive.put('c', at(2), lines(5, 15)));
    seams.judged();
    expect(seams.summary.result(['c'], true).gaps.first).toEqual([]);
  });

  it('of a log with a contradiction say nothing, but it is a base of the next audit: its text is whole', async () => {
    const { archive } = audits;
    const first = archive.put('c', at(0), lines(0, 10));
    const bad = archive.put('c', at(1), lines(400, 410));
    archive.bucket.rewrite(bad.key, { contentType: 'text/html' });
    const seams = new LogSeams(archive.bucket, emptyState.logs, 1);
    await seams.check(first);
    expect((await seams.check(bad)).problem?.kind).toBe('contradiction');
    seams.judged();
    expect(seams.summary.result(['c'], true).gaps.first).toEqual([]);
    const next = new LogSeams(archive.bucket, emptyState.logs, 1);
    await next.check(archive.put('c', at(2), lines(500, 510)));
    const gap = { cluster: 'c', from: at(1).toISOString(), to: at(2).toISOString() };
    next.judged();
    expect(next.summary.result(['c'], true).gaps.first).toEqual([gap]);
  });
});

describe('what people are told of logs', () => {
  let audits: Audits;

  beforeEach(() => {
    audits = new Audits();
  });

  it('is a gap once, also if the seal that found it had no mail', async () => {
    await audits.audit([lines(0, 50), lines(60, 110)], { isMailed: false });
    await audits.audit([lines(100, 150)]);
    expect(audits.told()).toContain('such as c (2026-11-20T00:00:00Z to 2026-11-20T01:00:00Z)');
    await audits.audit([lines(120, 170)]);
    expect(audits.told()).toBe('');
  });

  it('is a log that became empty, at once and once, until it has lines again', async () => {
    await audits.audit([lines(0, 10)]);
    // Three empty ones are more than are looked at for a base.
    await audits.audit(['', '', '', '']);
    const words =
      '1 log became empty after one with lines, such as c\n  (since 2026-11-20T01:00:00Z). It counts as frozen';
    expect(audits.told()).toContain(words);
    expect(logFigures(audits.sealed)).toEqual({ logGaps: 0, frozenLogs: 1 });
    await audits.audit(['']);
    expect([audits.told(), logFigures(audits.sealed).frozenLogs]).toEqual(['', 1]);
    await audits.audit([lines(5, 15)]);
    expect([audits.told(), audits.sealed.frozen]).toEqual(['', []]);
  });

  it('is nothing of a cluster that was taken out of the configuration', async () => {
    await audits.audit([lines(0, 10), lines(0, 10)]);
    expect(new LogSeams(audits.archive.bucket, audits.sealed, 1).summary.result([], true).frozen).toEqual([]);
  });
});
