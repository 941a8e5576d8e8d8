import type { Run } from '../../lambda/verify/read-run';
import { formatBytes, formatCount, formatDuration, formatTime } from './format';
import { printable } from './printable';
import { outcomesFailuresFirst, summarizeRun } from './run-summary';
import { printTable } from './table';
import { print, printJson, type Terminal } from './terminal';

/**
 * Prints one run with all its outcomes.
 * @returns whether all its records could be read
 */
export async function printRun(terminal: Terminal, run: Run, asJson: boolean): Promise<boolean> {
  const outcomes = outcomesFailuresFirst(run);
  if (asJson) {
    await printJson(terminal.out, { ...summarizeRun(run), outcomes });
    return run.badRecords.length === 0;
  }
  const { colors } = terminal;
  const { archived, failed, notAttempted } = run.counts;
  const lines = [
    `Run ${colors.bold(formatTime(run.run))}: ${run.status === 'complete' ? colors.green(run.status) : colors.red(run.status)} ` +
      `after ${formatCount(run.attempts, 'attempt')} and ${formatDuration(run.durationMs)}; ` +
      `${archived} archived, ${failed} failed, ${notAttempted} not attempted`,
    ...run.stopped.map((reason) => `Stopped early: ${printable(reason)}`),
    ...run.badRecords.map(({ key, problem }) => `${colors.red('Bad run record')} ${printable(`${key}: ${problem}`)}`),
  ];
  await print(terminal.out, `${lines.join('\n')}\n`);
  await printTable(
    terminal,
    [
      { head: 'Cluster', cell: (row) => row.cluster, gives: true },
      { head: 'Resource', cell: (row) => row.resource },
      {
        head: 'Outcome',
        cell: (row) => `${row.outcome}${row.late ? ', late' : ''}`,
        color: (text, row) => (row.key !== undefined ? text : colors.red(text)),
      },
      { head: 'Fetched after', cell: (row) => waited(run.run, row.fetchedAt), align: 'right' },
      { head: 'Content', cell: (row) => formatBytes(row.bytes), align: 'right' },
      { head: 'State or reason', cell: (row) => row.error ?? row.state ?? '', gives: true },
    ],
    outcomes,
  );
  return run.badRecords.length === 0;
}

/** How long after the run's time; a clock that differs may have it before. */
function waited(run: Date, fetchedAt: string | undefined): string {
  if (fetchedAt === undefined) return '';
  const milliseconds = Date.parse(fetchedAt) - run.getTime();
  return milliseconds < 0 ? `-${formatDuration(-milliseconds)}` : formatDuration(milliseconds);
}
