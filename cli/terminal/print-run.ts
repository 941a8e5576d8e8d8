import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import { isLate, type Run } from '../../lambda/verify/read-run';
import { formatBytes, formatCount, formatDuration, formatTime } from './format';
import { printable } from './printable';
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
  const { archived, failed, notAttempted, doubts } = run.counts;
  const lines = [
    `Run ${colors.bold(formatTime(run.run))}: ${run.status === 'complete' ? colors.green(run.status) : colors.red(run.status)} ` +
      `after ${formatCount(run.attempts, 'attempt')} and ${formatDuration(run.durationMs)}; ` +
      `${archived} archived, ${failed} failed, ${notAttempted} not attempted${formatDoubts(doubts)}`,
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
      {
        head: 'State or reason',
        cell: (row) => [row.error ?? row.state, doubtOf(row)].filter(Boolean).join('; '),
        gives: true,
      },
    ],
    outcomes,
  );
  return run.badRecords.length === 0;
}

/** What follows the counts of outcomes: how many of them have a doubt. */
export function formatDoubts(doubts: number): string {
  return doubts === 0 ? '' : `; ${doubts} with a doubt`;
}

export function doubtOf({ doubt }: Pick<RunOutcome, 'doubt'>): string | undefined {
  return doubt === undefined ? undefined : `doubt: ${doubt}`;
}

/** How long after the run's time; a clock that differs may have it before. */
function waited(run: Date, fetchedAt: string | undefined): string {
  if (fetchedAt === undefined) return '';
  const milliseconds = Date.parse(fetchedAt) - run.getTime();
  return milliseconds < 0 ? `-${formatDuration(-milliseconds)}` : formatDuration(milliseconds);
}

/** A run as `--json` documents it: times are ISO 8601 in UTC, lengths bytes, durations milliseconds. */
export function summarizeRun(run: Run) {
  return {
    run: run.run.toISOString(),
    status: run.status,
    attempts: run.attempts,
    shards: run.shards,
    counts: run.counts,
    bytes: run.bytes,
    storedBytes: run.storedBytes,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    durationMs: run.durationMs,
    stopped: run.stopped,
    records: run.records,
    badRecords: run.badRecords,
  };
}

/** The outcomes of a run as people look for them: what failed first, then by cluster. */
export function outcomesFailuresFirst({ run, outcomes }: Run): (RunOutcome & { late: boolean })[] {
  const rank = (outcome: RunOutcome) => (isStored(outcome) ? 2 : outcome.outcome === 'failed' ? 0 : 1);
  return outcomes
    .map((outcome) => ({ ...outcome, late: isLate(run, outcome.fetchedAt) }))
    .sort((a, b) => rank(a) - rank(b) || compare(a.cluster, b.cluster) || compare(a.resource, b.resource));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
