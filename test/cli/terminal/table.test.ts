import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { objectKey } from '../../../archive/format/keys';
import { printTable } from '../../../cli/terminal/table';
import { startCollector } from '../../support/program';
import { ArchiveFixture, type AttemptFixture, logRecord } from '../archive-fixture';
import { keptTerminal, runCollector } from '../run-collector';

const minute = (at: number) => new Date(Date.UTC(2026, 10, 20, 9, at, 15, 457));
const clusters = Array.from({ length: 60 }, (_, at) => `production-europe-frankfurt-cluster-number-${at}`);
const answer =
  (run: number): AttemptFixture['answer'] =>
  (cluster, resource) => {
    if (cluster.endsWith('7')) return { failed: 'GET https://service.example/v1/platformclusters failed: 503 Busy' };
    if (cluster.endsWith('8')) return { notAttempted: 'stopped shortly before the deadline' };
    const text = `${cluster} ${run}\n`;
    return { content: resource === 'log' ? logRecord(cluster, text) : text, state: 'Collecting everything' };
  };

const widthOf = (out: string) =>
  Math.max(
    ...stripVTControlCharacters(out)
      .split('\n')
      .map((line) => line.length),
  );

describe('tables', () => {
  let archive: ArchiveFixture;

  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    for (const at of [1, 2]) await archive.attempt({ run: minute(at), clusters, answer: answer(at) });
    const gone = objectKey({ resource: 'log', cluster: clusters[0] ?? '', run: minute(1) });
    await rm(join(archive.folder, gone));
  });

  const commands = [['runs'], ['runs', minute(1).toISOString()], ['list'], ['list', '--cluster', clusters[1] ?? '']];

  it.each(
    commands.flatMap((args) => [60, 80, 120].map((columns) => ({ args, columns }))),
  )('$args fits $columns columns, and no time breaks', async ({ args, columns }) => {
    const { out } = await runCollector([...args, '--archive', archive.folder], { columns, isTerminal: false });
    const table = out.slice(out.indexOf('┌'), out.lastIndexOf('┘') + 1);
    expect(table).not.toBe('');
    expect(widthOf(table)).toBeLessThanOrEqual(columns);
    const timed = table.split('\n').filter((row) => /^│ 2026/.test(row));
    // The outcomes of one run begin with their clusters.
    expect(timed.length > 0).toBe(args.length !== 2);
    for (const line of timed) expect(line).toMatch(/^│ 2026-11-20T09:0[12]:15\.457Z /);
  });

  it('a wrapped uid stays as it is, and no character in it is cut', async () => {
    const uid = 'e\u0301'.repeat(20) + '👩‍🚀'.repeat(20) + '🇩🇪'.repeat(20);
    const terminal = keptTerminal({ columns: 40 });
    await printTable(terminal, [{ head: 'Cluster', cell: (name: string) => name, wraps: true }], [uid]);
    const { text } = terminal.out;
    const rows = text.slice(text.lastIndexOf('├')).split('\n');
    const parts = rows.flatMap((line) => /^│ (.*?) *│/u.exec(line)?.[1] ?? []);
    expect(parts.join('')).toBe(uid);
    expect(parts.filter((part) => !/^(?:e\u0301|👩‍🚀|🇩🇪)+$/u.test(part))).toEqual([]);
  });

  it('the least important columns are left out first', async () => {
    const order = ['Stored', 'Content', 'Duration', 'Attempts', 'Not attempted', 'Failed'];
    const small = await ArchiveFixture.create();
    await small.attempt({ run: minute(1), clusters: clusters.slice(0, 10), answer: answer(1) });
    const counts: number[] = [];
    // A step is narrower than any column, so that each leaves in a step of its own.
    for (let columns = 130; columns >= 50; columns -= 5) {
      const { out } = await runCollector(['runs', '--archive', small.folder], { columns, isTerminal: false });
      const heads = out.split('\n').find((line) => line.startsWith('│ Run')) ?? '';
      const missing = order.filter((head) => !heads.includes(` ${head} `));
      expect(missing).toEqual(order.slice(0, missing.length));
      counts.push(missing.length);
    }
    expect(counts[0]).toBe(0);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBeGreaterThan(4);
  });

  it('COLUMNS sets the width of a pipe, which gets no colours, also in continuous integration', async () => {
    const outOf = async (environment: Record<string, string>) => {
      const program = startCollector(['runs', '--archive', archive.folder], {
        environment: { ...process.env, ...environment },
      });
      const [stdout] = await Promise.all([text(program.stdout), program.end()]);
      expect(stdout).toContain('│ 2026-11-20T09:02:15.457Z │');
      expect(stdout).toBe(stripVTControlCharacters(stdout));
      // The lines above and below the table are sentences, which the terminal wraps.
      return widthOf(stdout.slice(stdout.indexOf('┌'), stdout.indexOf('┘') + 1));
    };
    const widths = await Promise.all([outOf({ COLUMNS: '60', CI: 'true' }), outOf({ COLUMNS: '', FORCE_COLOR: '1' })]);
    expect(widths[0]).toBeLessThanOrEqual(60);
    expect(widths[1]).toBeGreaterThan(100);
  });
});
