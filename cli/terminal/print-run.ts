import { isStored, type Outcome, type RunOutcome } from '../../archive/format/run-record';
import { isLate, type Run } from '../../archive/read';
import { type Failure, reasonLines } from '../../lambda/group-reasons';
import { changeLines, type WithClusterChange } from './cluster-change';
import { atMost, byName, formatBytes, formatCount, formatDuration, formatTime } from './format';
import { printable } from './printable';
import { type Column, printTable } from './table';
import { print, type Terminal } from './terminal';

/** An outcome of a run, or a run that is absent, as a row of a table. */
export type OutcomeRow = Partial<Omit<RunOutcome, 'outcome'>> & {
  readonly run: Date;
  readonly outcome: string;
  readonly late?: boolean;
};

/** An outcome as recorded, or what became of its object since. */
type ShownOutcome = Omit<Outcome, 'outcome'> & { readonly outcome: string };

type ShownRun = Omit<Run, 'outcomes'> & WithClusterChange & { readonly outcomes: readonly ShownOutcome[] };

/** Most outcomes that are shown of a run, unless all are asked for: what is said above them should stay in view. */
const shownOutcomes = 20;

/** Most reasons that are shown why attempts ended early. */
const shownReasons = 3;

/**
 * Prints one run: first whether it is complete and why not, then its outcomes, failures first.
 * @param archive the option that names the archive in a command that may be pasted
 */
export async function printRun(terminal: Terminal, run: ShownRun, isEach: boolean, archive: string): Promise<void> {
  await printRunHead(terminal, run);
  await printOutcomes(
    terminal,
    run,
    isEach ? undefined : `npm run collector -- runs ${formatTime(run.run)} --all${archive} shows every row`,
  );
}

/** Prints of one run whether it is complete, and why not. */
export async function printRunHead({ out, colors }: Terminal, run: ShownRun): Promise<void> {
  const status = run.status === 'complete' ? colors.green(run.status) : colors.red(run.status);
  const lines = [
    `Run ${colors.bold(formatTime(run.run))}: ${status} ` +
      `after ${formatCount(run.attempts, 'attempt')}, worked ${formatDuration(run.durationMs)}; ` +
      formatOutcomeCounts(run.counts),
    ...stoppedLines(run.stopped),
    ...reasonsOf(run),
    ...changeLines(run.clusters).map(printable),
  ];
  await print(out, `${lines.join('\n')}\n`);
}

/** @param others how to see more than the first of them; left out: all are shown */
export async function printOutcomes(
  terminal: Terminal,
  run: Readonly<Pick<Run, 'run'>> & { readonly outcomes: readonly ShownOutcome[] },
  others?: string,
): Promise<void> {
  const rows = outcomesFailuresFirst(run).map((outcome) => ({ ...outcome, run: run.run }));
  const shown = others === undefined ? rows : rows.slice(0, shownOutcomes);
  await printTable(terminal, outcomeColumns(terminal, shown), shown);
  if (shown.length < rows.length) await print(terminal.out, `… and ${rows.length - shown.length} more; ${others}\n`);
}

/** Why attempts ended early: each reason once, because the attempts of a run, and its shards, mostly have the same. */
function stoppedLines(stopped: readonly string[]): string[] {
  const lines = [...new Set(stopped)].map((reason) => `Stopped early: ${printable(reason)}`);
  return atMost(shownReasons, lines, (more) => `… and for ${formatCount(more, 'more reason')}`);
}

/** Why a run is not complete, in a few lines. Optional clusters have lines of their own. */
export function reasonsOf({
  outcomes,
}: {
  readonly outcomes: readonly (Failure & Pick<OutcomeRow, 'outcome' | 'optional'>)[];
}): string[] {
  const missing = outcomes.filter((outcome) => !isStored(outcome));
  const gone = ['missing', 'expired'];
  const needed = missing.filter(({ outcome, optional }) => !optional && !gone.includes(outcome));
  const groups = {
    ...Object.fromEntries(gone.map((what) => [what, missing.filter(({ outcome }) => outcome === what)])),
    failed: needed.filter(({ outcome }) => outcome === 'failed'),
    'not attempted': needed.filter(({ outcome }) => outcome !== 'failed'),
    'optional missing': missing.filter(({ outcome, optional }) => optional && !gone.includes(outcome)),
  };
  return Object.entries(groups).flatMap(([what, outcomes]) => reasonLines(what, outcomes).map(printable));
}

/**
 * `8 of 9 archived, 1 failed, 0 not attempted`; behind it, how many optional ones are missing and how many have a doubt, if
 * any.
 */
export function formatOutcomeCounts(counts: Run['counts']): string {
  const { archived, failed, notAttempted, optionalMissing, doubts } = counts;
  const optional = optionalMissing === 0 ? '' : `, ${optionalMissing} optional missing`;
  return `${archived} of ${totalOf(counts)} archived, ${failed} failed, ${notAttempted} not attempted${optional}${formatDoubts(doubts)}`;
}

/** What follows the counts of outcomes: how many of them have a doubt. */
export function formatDoubts(doubts: number): string {
  return doubts === 0 ? '' : `; ${doubts} with a doubt`;
}

export function doubtOf({ doubt }: Pick<RunOutcome, 'doubt'>): string | undefined {
  return doubt === undefined ? undefined : `doubt: ${doubt}`;
}

export function totalOf({ archived, failed, notAttempted, optionalMissing }: Run['counts']): number {
  return archived + failed + notAttempted + optionalMissing;
}

/**
 * @param rows what is shown: where nothing came late, nobody asks when it came
 * @param narrowest least width of uids
 */
export function outcomeColumns(
  { colors }: Pick<Terminal, 'colors'>,
  rows: readonly OutcomeRow[],
  narrowest = 14,
): Column<OutcomeRow>[] {
  return [
    // Somebody copies it: other columns are left out before one of usual length is broken.
    { head: 'Cluster', cell: (row) => row.cluster ?? '', wraps: true, narrowest },
    { head: 'Resource', cell: (row) => row.resource ?? '' },
    {
      head: 'Outcome',
      cell: (row) => `${row.outcome}${row.late ? ', late' : ''}`,
      color: (text, row) =>
        isStored(row) || ['would-archive', 'expired'].includes(row.outcome) ? text : colors.red(text),
      wraps: true,
      narrowest: 8,
    },
    ...(rows.some(({ late }) => late) ? [fetchedAfterColumn] : []),
    { head: 'Content', cell: (row) => formatBytes(row.bytes), align: 'right', leftOut: 2 },
    {
      head: 'State or reason',
      cell: (row) => [row.error ?? row.state, doubtOf(row)].filter(Boolean).join('; '),
      wraps: true,
      leftOut: 3,
    },
  ];
}

/** How long after the run's time; negative where the clocks of schedule and function differ. */
function fetchedAfter({ run, fetchedAt }: OutcomeRow): string {
  if (fetchedAt === undefined) return '';
  const milliseconds = Date.parse(fetchedAt) - run.getTime();
  return milliseconds < 0 ? `-${formatDuration(-milliseconds)}` : formatDuration(milliseconds);
}

const fetchedAfterColumn: Column<OutcomeRow> = {
  head: "After the run's time",
  cell: fetchedAfter,
  align: 'right',
  leftOut: 1,
};

/** A run as `--json` documents it: times are ISO 8601 in UTC, lengths bytes, durations milliseconds. */
export function summarizeRun({ run, starts, outcomes, recordBytes, ...summary }: ShownRun) {
  return { run: run.toISOString(), ...summary };
}

/** The outcomes of a run: failures first, then what was not attempted, each by cluster. */
export function outcomesFailuresFirst<Found extends ShownOutcome>({
  run,
  outcomes,
}: {
  readonly run: Date;
  readonly outcomes: readonly Found[];
}): (Found & { readonly late: boolean })[] {
  const ranks = ['missing', 'failed', 'not-attempted'];
  const rank = ({ outcome }: ShownOutcome) => (ranks.includes(outcome) ? ranks.indexOf(outcome) : ranks.length);
  return outcomes
    .map((outcome) => ({ ...outcome, late: isLate(run, outcome.fetchedAt) }))
    .sort((a, b) => rank(a) - rank(b) || byName(a.cluster, b.cluster) || (a.resource < b.resource ? -1 : 1));
}
