import { Command } from 'commander';
import type { Resource } from '../../lambda/resources';
import { take } from '../../lambda/verify/newest-first';
import { type ClusterFilter, nearestTo } from '../archive/cluster-names';
import { type ListedOutcome, listOutcomes } from '../archive/list-outcomes';
import type { AbsentRow } from '../archive/overdue';
import { isAbsent } from '../archive/run-reader';
import { formatTime } from '../terminal/format';
import { type OutcomeRow, outcomeColumns } from '../terminal/print-run';
import { printable } from '../terminal/printable';
import { type Column, printTable } from '../terminal/table';
import { type CommandContext, print, printJsonArray, type Terminal } from '../terminal/terminal';
import { absentText } from './cluster-runs';
import { parseCount, type RunOptions, readRuns, resourceOption, withClusters, withHelp, withRuns } from './options';

interface Options extends RunOptions {
  readonly cluster?: ClusterFilter;
  readonly resource?: Resource;
  readonly limit: number;
}

type Row = ListedOutcome | AbsentRow;

export function listCommand(context: CommandContext): Command {
  const { terminal } = context;
  const command = new Command('list')
    .summary('the archived objects, and what is missing')
    .description(
      'Lists the outcomes of runs, oldest first: what is archived, what failed, and which runs are absent. "late": fetched more than an hour after the time of the run.',
    )
    .addOption(resourceOption('only this resource'))
    .option('--limit <count>', 'stop the table after so many rows; --json is never cut', parseCount, 20);
  withHelp(withRuns(withClusters(command), terminal, 'all'), terminal, helpText);
  return command.action((options: Options) =>
    readRuns(context, options, async (reader) => {
      const { resource, cluster: clusters } = options;
      const rows = listOutcomes(reader, { ...(resource && { resources: [resource] }), clusters, selection: options });
      if (options.json === true) return printJsonArray(terminal.out, summaries(rows));
      if ((await printRows(terminal, rows, options.limit)) > 0) return;
      const nearest = await nearestTo(reader, clusters);
      await print(terminal.err, `Nothing in ${printable(reader.archive.location)} matches${nearest}.\n`);
    }),
  );
}

/** @returns how many outcomes there are, as far as they were read */
async function printRows(terminal: Terminal, rows: AsyncIterable<Row>, limit: number): Promise<number> {
  const found: Row[] = [];
  // One more shows whether there are more; nothing behind it is read.
  for await (const row of take(limit + 1, rows)) found.push(row);
  const shown = found.slice(0, limit);
  const run: Column<OutcomeRow> = { head: 'Run', cell: (row) => formatTime(row.run) };
  const table = shown.map((row) => (isAbsent(row) ? absentRow(row) : row));
  await printTable(terminal, [run, ...outcomeColumns(terminal)], table);
  if (found.length > limit)
    await print(terminal.err, `The list stopped after ${limit} rows; --limit, --last or --from choose others.\n`);
  return shown.filter((row) => !isAbsent(row)).length;
}

function absentRow(absent: AbsentRow): OutcomeRow {
  const { run, times } = absent;
  return { run, outcome: 'absent', ...(times.length > 1 && { error: absentText(absent) }) };
}

const told = [
  ...(['cluster', 'resource', 'outcome', 'late', 'reason', 'fetchedAt'] as const),
  ...(['bytes', 'storedBytes', 'state', 'sha256', 'key'] as const),
];

/** Elements as `list --json` documents them. Null: not known. */
async function* summaries(rows: AsyncIterable<Row>) {
  for await (const row of rows) {
    if (isAbsent(row)) {
      yield* row.times.map((time) => ({ run: time.toISOString(), outcome: 'absent' }));
      continue;
    }
    const known = { ...row, reason: row.error ?? row.doubt };
    yield { run: row.run.toISOString(), ...Object.fromEntries(told.map((name) => [name, known[name] ?? null])) };
  }
}

const helpText = `
list reads the run records. With the uid of one cluster it also lists its objects, and names those that no record has:
unrecorded. A run that the schedule was due to start and that left no record is a row too: absent.

With --json: an array, an element per row, several absent runs in a row one by one.

Exit codes: 0 done, 1 a run record is damaged, 2 wrong command line, 3 it could not be done, or a run record could
not be read.

Examples:
  npm run collector -- list --cluster my-cluster --from "3 days ago"
  npm run collector -- list --from 2026-11-20 --resource manifest --json
  npm run --silent collector -- list --last 1 --json | jq -r '.[].key // empty'
`;
