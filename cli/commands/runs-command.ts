import { Command } from 'commander';
import type { Run } from '../../lambda/verify/read-run';
import { openDamage } from '../../lambda/verify/seals/open-damage';
import { SealIndex } from '../../lambda/verify/seals/seal-index';
import { completeCommand } from '../archive/open-archive';
import { type AbsentRow, isAbsent, type RunReader, type RunRow } from '../archive/run-reader';
import type { RunSelection } from '../archive/select-runs';
import { formatBytes, formatCount, formatDuration, formatTime } from '../terminal/format';
import {
  formatDoubts,
  newestRunLine,
  outcomesFailuresFirst,
  printRun,
  summarizeRun,
  totalOf,
} from '../terminal/print-run';
import { printable } from '../terminal/printable';
import { type Column, printTable } from '../terminal/table';
import { type CommandContext, print, printJson, printJsonArray, type Terminal } from '../terminal/terminal';
import { absentText, printClusterRuns } from './cluster-runs';
import { type RunOptions, readRuns, selectionOf, withHelp, withRuns } from './options';
import { overdueLine, printOpen, printStale } from './print-health';
import { parseRunTime } from './time-argument';

const defaultRuns = 20;

interface Options extends RunOptions {
  readonly all?: boolean;
  readonly cluster?: string;
}

export function runsCommand(context: CommandContext): Command {
  const { terminal, end } = context;
  const command = new Command('runs')
    .summary('whether it is well, and the last runs')
    .description(
      'Says whether the newest run is complete, and lists the last runs, oldest first. Given the time of one: why it is not complete, and its outcomes, failures first.',
    )
    .argument('[time]', 'the same as --run', parseRunTime)
    .option('--cluster <uid>', 'what became of this cluster in each run')
    .option('--all', 'with the time of one run: show every outcome, not only the first 20');
  withHelp(withRuns(command, terminal, defaultRuns), terminal, helpText);
  return command.action(async (time: Date | undefined, options: Options) => {
    const other = (['run', 'at', 'from', 'to', 'last'] as const).find((name) => options[name] !== undefined);
    if (time !== undefined && other !== undefined)
      command.error(`error: both the time of a run and --${other}; expected one of them`);
    const selection = selectionOf({ ...options, run: time ?? options.run }, defaultRuns);
    let isWell = true;
    await readRuns(context, options, async (reader) => {
      const overdue = await reader.overdue();
      const seal = await new SealIndex(reader.archive).newest();
      const { count = 0, since = null, acknowledged = [] } = seal === undefined ? {} : openDamage(seal);
      isWell = overdue === undefined && count === 0;
      const open = seal && { openDamage: { count, since, acknowledged: acknowledged.length } };
      if (seal !== undefined && options.json !== true) await printOpen(terminal, seal);
      if (overdue !== undefined && options.json !== true)
        await print(terminal.out, `${overdueLine(terminal, overdue)}\n`);
      const isOne = (selection.run !== undefined || selection.at !== undefined) && options.cluster === undefined;
      await (isOne ? printOneRun : printRuns)(terminal, { ...options, reader, selection, overdue, open });
    });
    if (!isWell) end('found');
  });
}

/** What is asked for, and what is known before runs are read. */
interface Asked extends Options {
  readonly reader: RunReader;
  readonly selection: RunSelection;
  readonly overdue: AbsentRow | undefined;
  /** What is open by the newest seal, for `--json`. */
  readonly open: object | undefined;
}

async function printOneRun(terminal: Terminal, { reader, selection, json, all, open }: Asked): Promise<void> {
  for await (const run of reader.select(selection)) {
    if (isAbsent(run)) continue;
    if (json) return printJson(terminal.out, { ...summarizeRun(run), ...open, outcomes: outcomesFailuresFirst(run) });
    const newest = await reader.newestRun();
    if (newest !== undefined && newest.run.getTime() !== run.run.getTime())
      await print(terminal.out, `${newestRunLine(terminal, newest)}\n`);
    await printRun(terminal, run, all === true);
    const complete = run.status === 'complete' ? undefined : completeCommand(reader.archive.location, run.run);
    if (complete !== undefined) await print(terminal.out, `Complete it with: ${complete}\n`);
  }
}

async function printRuns(terminal: Terminal, asked: Asked): Promise<void> {
  const { reader, selection, json, cluster, overdue, open } = asked;
  // One run at a time, without its outcomes: the records of a large fleet are large.
  async function* runs(): AsyncGenerator<RunRow> {
    for await (const row of reader.select(selection))
      yield isAbsent(row) ? row : { ...row, outcomes: row.outcomes.filter((outcome) => outcome.cluster === cluster) };
    const isOpen = [selection.run, selection.at, selection.to].every((end) => end === undefined);
    if (overdue !== undefined && isOpen) yield overdue;
  }
  // Whoever asks for older runs gets the state at the last of them: what came later is not read.
  const stateAt = () => (selection.to === undefined ? undefined : reader.newest);
  const findStale = () => reader.stale(stateAt() ?? reader.now);
  if (json) {
    const ofLast = async () => ({ ...open, ...(cluster === undefined && (await findStale())) });
    const summarize =
      cluster === undefined ? summarizeRun : ({ run, status, outcomes }: Run) => ({ run, status, outcomes });
    return printJsonArray(terminal.out, summaries(runs(), summarize, ofLast));
  }
  if (cluster !== undefined) return printClusterRuns(terminal, reader, cluster, runs());
  const newest = await reader.newestRun();
  if (newest !== undefined) await print(terminal.out, `${newestRunLine(terminal, newest)}\n`);
  if ((await printTable(terminal, runColumns(terminal), runs())) === 0)
    await print(terminal.err, `No runs in ${printable(reader.archive.location)} in this period.\n`);
  else await printStale(terminal, await findStale(), stateAt());
}

/** Elements as `--json` documents them. @param ofLast what the last one has besides: what is open, and the stale clusters */
async function* summaries(rows: AsyncIterable<RunRow>, summarize: (run: Run) => object, ofLast: () => Promise<object>) {
  let last: object | undefined;
  for await (const row of rows)
    for (const element of isAbsent(row) ? row.times.map((run) => ({ run, status: 'absent' })) : [summarize(row)]) {
      if (last !== undefined) yield last;
      last = element;
    }
  if (last !== undefined) yield { ...last, ...(await ofLast()) };
}

function runColumns({ colors }: Pick<Terminal, 'colors'>): Column<RunRow>[] {
  const ofMissing = { align: 'right', color: (text: string) => (text === '0' ? text : colors.red(text)) } as const;
  const ofRun = (cell: (run: Run) => string) => (row: RunRow) => (isAbsent(row) ? '' : cell(row));
  return [
    { head: 'Run', cell: (row) => formatTime(row.run) },
    { head: 'Attempts', cell: ofRun(attemptsOf), align: 'right', leftOut: 4 },
    { head: 'Archived', cell: ofRun(({ counts }) => `${counts.archived}/${totalOf(counts)}`), align: 'right' },
    { head: 'Failed', cell: ofRun(({ counts }) => `${counts.failed}`), ...ofMissing, leftOut: 6 },
    { head: 'Not attempted', cell: ofRun(({ counts }) => `${counts.notAttempted}`), ...ofMissing, leftOut: 5 },
    { head: 'Content', cell: ofRun(({ bytes }) => formatBytes(bytes)), align: 'right', leftOut: 2 },
    { head: 'Stored', cell: ofRun(({ storedBytes }) => formatBytes(storedBytes)), align: 'right', leftOut: 1 },
    { head: 'Duration', cell: ofRun(({ durationMs }) => formatDuration(durationMs)), align: 'right', leftOut: 3 },
    {
      head: 'Status',
      cell: statusOf,
      color: (text, row) =>
        'status' in row && row.status === 'complete' && row.badRecords.length === 0
          ? colors.green(text)
          : colors.red(text),
      wraps: true,
      // A time is never broken.
      narrowest: 20,
    },
  ];
}

function statusOf(row: RunRow): string {
  if (isAbsent(row)) return absentText(row);
  return `${row.status}${formatDoubts(row.counts.doubts)}${row.badRecords.length === 0 ? '' : ', bad record'}`;
}

function attemptsOf({ attempts, shards }: Run): string {
  return shards === 1 ? `${attempts}` : `${attempts} x ${formatCount(shards, 'shard')}`;
}

const helpText = `
A run that the schedule was due to start and that left no record is a row too: absent. Of a bucket, runs first says
whether one is overdue now, as the newest stored configuration or seal knows the schedule. A folder is a copy, in which
nothing is due: there the age of the newest run is all that is known. With an audit, it says before that what is
damaged and since when, as the newest seal has it.

Behind the list of runs stand the stalest clusters: the last run that covers them did not archive all of them. Only
the listed runs count: "at least" means that none of these archived the cluster. A third table has the clusters that
fail now and then: in a fifth of these runs or more, and at least three.

With --json: an array, an element per run, the last one with all stale clusters; an absent run has the status absent.
With the time of a run: one object, with the outcomes too. With --cluster: an element per run, with the outcomes of the
cluster.

Exit codes: 0 done, 1 a run record is damaged, a run is overdue or damage is open, 2 wrong command line, 3 it
could not be done, or a run record could not be read.

Examples:
  npm run collector -- runs --last 5
  npm run collector -- runs 2026-11-20T10:00:00Z --all
  npm run collector -- runs --from yesterday
  npm run collector -- runs --cluster my-cluster --last 60
  npm run --silent collector -- runs --from 2026-11-01 --json | jq '.[] | select(.status != "complete")'
`;
