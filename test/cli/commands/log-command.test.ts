import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runRecordKey } from '../../../archive/format/keys';
import { ArchiveFixture, type AttemptFixture, hour, keyOf, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

/** Numbered lines, from one to before another. */
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `event ${from + at}\n`).join('');

/** What the service answered of each cluster, by the hour of the run. */
const shown: Readonly<Record<string, Readonly<Record<number, string | { readonly failed: string }>>>> = {
  alpha: {
    ...{ 5: lines(0, 20), 6: lines(10, 30), 7: lines(20, 40) },
    8: { failed: 'GET …/logFetcher failed: 503 Service Unavailable' },
    9: lines(30, 50),
    // Moved further than it reaches back.
    10: lines(60, 80),
    11: lines(40, 75),
  },
  beta: { 6: lines(0, 9), 7: lines(0, 9), 8: '', 9: `${lines(0, 9)}half`, 10: 'other\n' },
};

describe('log', () => {
  let archive: ArchiveFixture;

  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    for (const [attempt, [cluster, answers]] of Object.entries(shown).entries())
      for (const [at, said] of Object.entries(answers)) {
        const log = typeof said === 'string' ? { content: logRecord(cluster, said) } : said;
        const answer: AttemptFixture['answer'] = (_, resource) =>
          resource === 'log' ? log : { content: 'kind: Pod\n' };
        await archive.attempt({ run: hour(Number(at)), attempt: attempt + 1, clusters: [cluster], answer });
      }
  });

  const log = (...args: string[]) => runCollector(['log', '--archive', archive.folder, ...args]);
  const logOf = ({ folder }: ArchiveFixture, ...args: string[]) =>
    runCollector(['log', 'a', '--archive', folder, ...args]);
  const time = (at: number) => `2026-11-20T${String(at).padStart(2, '0')}:00:00Z`;

  it('prints each line once, in order, and what is before the period not at all', async () => {
    const { code, out, err } = await log('alpha', '--strict', '--from', time(6), '--to', time(9));
    expect([code, out]).toEqual([0, lines(20, 50)]);
    expect(err).toContain(
      `${time(8)}: no log: the run ${time(8)} did not archive it (failed): GET …/logFetcher failed: 503`,
    );
    expect(err).toContain('30 lines of 3 logs, 30 repeated lines left out, 1 run without a log, no gap.');
    expect(err).toContain(` They were logged after the run ${time(5)} and up to the run ${time(9)}.`);
  });

  it('joins the last 24 hours, and says where lines may be lost', async () => {
    const { code, out, err } = await log('alpha');
    // The stale answer of 11 has ten of the lines that the gap before it lost.
    expect([code, out]).toEqual([0, lines(0, 50) + lines(60, 80) + lines(50, 60)]);
    expect((await log('alpha', '--strict')).code).toBe(1);
    expect(err).toContain(
      `${time(10)}: gap: nothing of the end of the log of the run ${time(9)} is in it: lines between may be lost`,
    );
    expect(err).toContain(
      `${time(11)}: older: the log ends before that of the run ${time(10)} does, a stale answer; 10 lines of it are older`,
    );
    expect(err).toContain('1 gap: lines may be lost.');
  });

  it('names the period in which nothing was archived', async () => {
    const now = new Date('2026-11-25T00:00:00Z');
    const { code, err } = await runCollector(['log', 'alpha', '--archive', archive.folder], { now });
    expect([code, err]).toEqual([
      3,
      expect.stringContaining('none was archived from 2026-11-24T00:00:00Z; the archive'),
    ]);
  });

  it('reads the log behind the end of the period, which has what was logged up to then', async () => {
    const every4 = await ArchiveFixture.create();
    for (const at of [0, 4, 8, 12])
      await every4.attempt({
        run: hour(at),
        clusters: ['a'],
        answer: () => ({ content: logRecord('a', lines(at, at + 10)) }),
      });
    const { out, err } = await logOf(every4, '--from', time(2), '--to', time(6));
    expect(out).toBe(lines(10, 18));
    expect(err).toContain(` They were logged after the run ${time(0)} and up to the run ${time(8)}.`);
    expect((await logOf(every4, '--from', time(2), '--to', time(4))).out).toBe(lines(10, 14));
  });

  it('cuts the text where lines begin with a time, and says how many do not', async () => {
    const at = (minute: string) => `2026-11-20T02:${minute}:00Z request\n`;
    const text = `${at('05')}  trace of 05\n${at('10')}  trace of 10\n[2026-11-20 03:15:00,5 +01:00] local\n${at('21')}`;
    const timed = await ArchiveFixture.ofLogs([text]);
    const { out, err } = await logOf(timed, '--lines-from', '2026-11-20T02:10', '--lines-to', '2026-11-20T02:20');
    expect(out).toBe(`${at('10')}  trace of 10\n[2026-11-20 03:15:00,5 +01:00] local\n`);
    expect(err).toContain('2 of 6 lines do not begin with a time: each stays with the line before it.\n');
    expect(err).toContain('3 of 6 lines of 1 log lie in this period, ');
    expect((await logOf(timed, '--lines-to', '2026-11-20T02:05')).out).toBe(`${at('05')}  trace of 05\n`);
    expect((await logOf(timed, '--lines-from', '2026-11-20', '--seams')).code).toBe(2);
  });

  it('chooses the runs itself that have the lines of a period, however long ago that was', async () => {
    const minute = (at: number) =>
      `2026-11-20T${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}:00Z`;
    const of = (from: number, to: number) =>
      Array.from({ length: (to - from) / 10 }, (_, at) => `${minute(from + 10 * at)} request\n`).join('');
    const rolling = await ArchiveFixture.create();
    for (const at of [1, 2, 3, 4, 5, 6, 7, 8])
      await rolling.attempt({
        run: hour(at),
        clusters: ['a'],
        answer: () => ({ content: logRecord('a', of(Math.max(0, 60 * at - 100), 60 * at)) }),
      });
    const now = new Date('2026-11-24T00:00:00Z');
    const cut = (...args: string[]) => runCollector(['log', 'a', '--archive', rolling.folder, ...args], { now });
    const { code, out, err } = await cut('--lines-from', minute(150), '--lines-to', minute(270));
    expect([code, out]).toEqual([0, of(150, 280)]);
    // The log of run 2 has none of them; that of run 5 has the last ones.
    expect(err).toContain('13 of 24 lines of 4 logs lie in this period, ');
    expect(err).not.toContain('do not begin');
    expect((await cut('--lines-to', minute(30))).out).toBe(of(0, 40));
    expect((await cut('--lines-from', minute(470))).out).toBe(of(470, 480));
    const none = await cut('--from', minute(360), '--lines-from', minute(0), '--lines-to', minute(60));
    expect([none.code, none.out]).toEqual([3, '']);
    expect(none.err).toContain('0 of 18 lines of 3 logs lie in this period, ');
    const have = `3 runs from ${minute(360)} up to ${minute(480)} have times from ${minute(300)} up to ${minute(470)}`;
    expect(none.err).toContain(`The lines of ${have}; --from and --to choose other runs.\n`);
    const whole = await cut('--from', minute(120), '--to', minute(180));
    expect(whole.err).toContain('--lines-from and --lines-to cut the text by the times of its lines.\n');
  });

  it('a gap stays a gap, also where a later log reaches back across it', async () => {
    const wide = await ArchiveFixture.ofLogs([lines(0, 20), lines(40, 50), lines(45, 60), lines(10, 70)]);
    const { code, out, err } = await logOf(wide, '--strict');
    expect([code, out]).toEqual([1, lines(0, 20) + lines(40, 60) + lines(20, 40) + lines(60, 70)]);
    expect(err).toContain(
      `${time(1)}: gap: nothing of the end of the log of the run ${time(0)} is in it: lines between`,
    );
    expect(err).toContain(
      `${time(3)}: reaches back: 20 lines of it are older than what is before, and in no log before`,
    );
  });

  /** The same lines, the last one first. */
  const newestFirst = (from: number, to: number) =>
    lines(from, to).split('\n').reverse().join('\n').slice(1).concat('\n');

  it('joins a log that is newest first, run by run, and says so', async () => {
    for (const isGrowing of [false, true]) {
      const shown = [20, 25, 25, 30].map((to) => newestFirst(isGrowing ? 0 : to - 20, to));
      const newest = await ArchiveFixture.ofLogs(shown);
      const { code, out, err } = await logOf(newest, '--strict');
      expect([code, out]).toEqual([0, newestFirst(0, 20) + newestFirst(20, 25) + newestFirst(25, 30)]);
      expect(err).toContain(`${time(1)}: order: the log is newest first, and so are the new lines of each run\n`);
      expect(err).toMatch(/^30 lines of 4 logs, .*no gap\..* The log is newest first/m);
      expect(err.match(/order:/g)).toHaveLength(1);
    }
  });

  it('a log that turns, or changes its line ends, is said to, and nothing of it is printed twice', async () => {
    const turned = await ArchiveFixture.ofLogs([lines(0, 20), newestFirst(3, 23), newestFirst(5, 25)]);
    const { out, err } = await logOf(turned);
    expect(out).toBe(lines(0, 20) + newestFirst(20, 23) + newestFirst(23, 25));
    expect(err.match(/.*order: .*/g)).toEqual([
      `${time(1)}: order: the log turned: it is newest first, and so are the new lines of each run`,
    ]);
    const crLf = (text: string) => text.replaceAll('\n', '\r\n');
    const ended = await ArchiveFixture.ofLogs([lines(0, 20), crLf(lines(5, 25)), crLf(lines(10, 30))]);
    const joined = await logOf(ended, '--strict');
    expect([joined.code, joined.out]).toEqual([0, lines(0, 20) + crLf(lines(20, 30))]);
    expect(joined.err.match(/.*line ends.*/g)).toEqual([
      `${time(1)}: line ends: they turned into CRLF; lines are compared without their line ends`,
    ]);
  });

  it('a line of the moment in each log makes no gap: it is left out of the comparison, printed, and said', async () => {
    const framed = await ArchiveFixture.ofLogs(
      [20, 25, 30].map((to) => `fetched at ${to}:00\n${lines(to - 20, to)}-- ${to} lines`),
    );
    const { code, out, err } = await logOf(framed, '--strict');
    const first = `fetched at 20:00\n${lines(0, 20)}-- 20 lines\n`;
    const next = (at: number) => `fetched at ${at}:00\n${lines(at - 5, at)}-- ${at} lines`;
    expect([code, out]).toEqual([0, `${first}${next(25)}\n${next(30)}`]);
    expect(err).toContain(`${time(1)}: compared without its first and last line, which is another one in each log\n`);
    expect(err).toContain('2 logs compared without a first or last line, no gap.');
    expect(err.match(/compared without/g)).toHaveLength(2);
  });

  it('a line without an end goes on in the next log, or ends before a gap', async () => {
    const { out, err } = await log('beta');
    expect(out).toBe(`${lines(0, 9)}half\nother\n`);
    expect(err).toContain(`${time(8)}: no text: its text is empty`);
  });

  it('--seams of one cluster names the runs before whose logs lines may be lost, and --json has all of them', async () => {
    const { code, out } = await log('alpha', '--seams');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/│ alpha +│ +6 │ lines may be lost before 2026-11-20T10:00:00Z │/),
    ]);
    expect((await log('alpha', '--seams', '--strict')).code).toBe(1);
    expect(JSON.parse((await log('alpha', '--json')).out)).toEqual([
      {
        cluster: 'alpha',
        logs: 6,
        gaps: [hour(10).toISOString()],
        missing: [],
        damaged: 0,
        frozenSince: null,
        emptySince: null,
      },
    ]);
    const gaps = await ArchiveFixture.ofLogs(Array.from({ length: 6 }, (_, at) => lines(20 * at, 20 * at + 10)));
    expect((await logOf(gaps, '--seams')).out).toContain(`before ${time(1)}, ${time(2)}, ${time(3)}, and 2 more`);
  });

  it('--all --seams names what is gone and frozen first, and the gap that an absent run left in many logs in one row', async () => {
    const fleet = await ArchiveFixture.create();
    const many = Array.from({ length: 12 }, (_, at) => `w-${at}`);
    const clusters = ['frozen', 'gone', 'own-gap', ...many];
    for (const at of [1, 2, 3, 5, 6]) {
      const textOf = (uid: string) => {
        if (uid === 'frozen') return lines(0, 10);
        return uid === 'own-gap' && at > 5 ? lines(900, 910) : lines(at * 10, at * 10 + 15);
      };
      await fleet.attempt({ run: hour(at), clusters, answer: (uid) => ({ content: logRecord(uid, textOf(uid)) }) });
    }
    for (const at of [2, 3]) await rm(join(fleet.folder, keyOf('log', 'gone', hour(at))));
    const all = ['log', '--all', '--seams', '--from', hour(0).toISOString(), '--archive', fleet.folder];
    const { code, out, err } = await runCollector(all);
    const rows = out.split('\n').map((line) => line.replace(/^│ *| *│$/g, '').replace(/ *│ */g, ' | '));
    const absent = `lines may be lost before ${time(5)}, the run before it is absent`;
    expect([code, rows.slice(3, -2)]).toEqual([
      1,
      [
        `gone | 3 | 2 logs missing: ${time(2)} to ${time(3)}; ${absent}`,
        `frozen | 5 | nothing new since ${time(1)}`,
        `own-gap | 5 | ${absent}, ${time(6)}`,
        `12 clusters |  | ${absent}`,
      ],
    ]);
    expect(err).toContain(`Absent: 1 scheduled run left no record: ${time(4)}.`);
    const { out: json } = await runCollector([...all, '--json']);
    expect(JSON.parse(json)).toHaveLength(15);
    expect(JSON.parse(json)[1]).toMatchObject({
      cluster: 'gone',
      missing: [hour(2), hour(3)].map((at) => at.toISOString()),
    });
  });

  it('--all --seams has a line for each cluster of which there is anything to say', async () => {
    const fleet = await ArchiveFixture.create();
    const texts: Readonly<Record<string, (at: number) => string>> = {
      well: (at) => lines(at, at + 10),
      frozen: (at) => lines(0, Math.min(at, 1) + 5),
      gapped: (at) => lines(at * 20, at * 20 + 10),
      empty: (at) => (at < 1 ? lines(0, 5) : ''),
    };
    for (const at of [0, 1, 2]) {
      const answer: AttemptFixture['answer'] = (cluster) => ({
        content: logRecord(cluster, texts[cluster]?.(at) ?? ''),
      });
      await fleet.attempt({ run: hour(at), clusters: Object.keys(texts), answer });
    }
    const seams = (...args: string[]) => runCollector(['log', '--all', '--seams', '--archive', fleet.folder, ...args]);
    const { code, out, err } = await seams();
    const rows = out.split('\n').map((line) => line.replace(/^│ *| *│$/g, '').replace(/ *│ */g, ' | '));
    expect(rows.slice(3, -2)).toEqual([
      `frozen | 3 | nothing new since ${time(1)}`,
      `empty | 3 | empty since ${time(1)}`,
      `gapped | 3 | lines may be lost before ${time(1)}, ${time(2)}`,
    ]);
    expect([code, err]).toEqual([0, expect.stringContaining('nothing to say of 1 cluster of 4.')]);
    expect((await seams('--strict')).code).toBe(1);
    expect((await seams('--strict', 'fr*')).code).toBe(0);
    expect(JSON.parse((await seams('--json', 'well')).out)).toEqual([
      { cluster: 'well', logs: 3, gaps: [], missing: [], damaged: 0, frozenSince: null, emptySince: null },
    ]);
    expect((await seams('nobody')).code).toBe(3);
    expect((await runCollector(['log', '--all', '--archive', fleet.folder])).code).toBe(2);
  });

  it('a damaged log is named, joins nothing and ends with 1', async () => {
    const damaged = await ArchiveFixture.ofLogs([lines(5, 15), lines(10, 20), lines(15, 25)]);
    await damaged.damage(keyOf('log', 'a', hour(1)));
    const { code, out, err } = await logOf(damaged);
    expect([code, out]).toEqual([1, lines(5, 25)]);
    expect(err).toContain(`${time(1)}: no text: damaged:`);
    const seams = await logOf(damaged, '--seams');
    expect([seams.code, seams.out]).toEqual([1, expect.stringContaining('1 damaged')]);
  });

  it('a run whose record is damaged is not said to have left the cluster out', async () => {
    const damaged = await ArchiveFixture.ofLogs([lines(0, 5)]);
    await damaged.attempt({ run: hour(1), clusters: ['a'], answer: () => ({ failed: 'no answer' }) });
    const key = runRecordKey({ run: hour(1), attempt: 1 });
    await writeFile(join(damaged.folder, key), 'not a run record');
    const { out, err } = await logOf(damaged);
    expect(out).toBe(lines(0, 5));
    expect(err).toContain(`${time(1)}: no log: the run ${time(1)} has a record that cannot be used (${key}): `);
    expect(err).not.toContain('did not cover it');
  });

  it('a text that is too long to be held is read again', async () => {
    const text = [...'abc'].map((letter) => `${letter.repeat(6_000_000)}\n`).join('');
    const { code, out } = await logOf(await ArchiveFixture.ofLogs([text, text + lines(0, 9)]));
    expect([code, out === text + lines(0, 9)]).toEqual([0, true]);
  });
});
