import { Command, Option } from 'commander';
import type { Resource } from '../../archive/format/resources';
import { isLate, take } from '../../archive/read';
import { type AbsentRow, isAbsent } from '../archive/absent-runs';
import { type ClusterFilter, noSuchCluster } from '../archive/cluster-names';
import { type HeldOutcome, isStoredOrExpired } from '../archive/held-outcomes';
import { askedOf, type ListedOutcome, outcomesOf } from '../archive/list-outcomes';
import type { RunReader } from '../archive/run-reader';
import { noRuns } from '../archive/select-runs';
import { formatCount, formatTime } from '../terminal/format';
import { type OutcomeRow, outcomeColumns, reasonsOf } from '../terminal/print-run';
import { printable } from '../terminal/printable';
import { type Column, printTable } from '../terminal/table';
import { type CommandContext, print, printJsonArray, type Terminal } from '../terminal/terminal';
import { absentText } from './cluster-runs';
import { growthBy, printGrowth } from './list-growth';
import { printStaleClusters } from './list-stale';
import { parseCount, type RunOptions, readRuns, resourceOption, withClusters, withHelp, withRuns } from './options';
import { parseAge } from './time-argument';

interface Options extends RunOptions {
  readonly cluster?: ClusterFilter;
  readonly resource?: Resource;
  readonly failed?: boolean;
  /** In milliseconds. */
  readonly stale?: number;
  readonly by?: (typeof growthBy)[number];
  readonly limit: number;
}

type Row = ListedOutcome | AbsentRow;

export function listCommand(context: CommandContext): Command {
  const { terminal, end } = context;
  const command = new Command('list')
    .summary('the archived objects, and what is missing')
    .description(
      'Lists the outcomes of runs, oldest first: what is archived, what failed, and which runs are absent. "late": fetched more than an hour after the time of the run.',
    )
    .addOption(resourceOption('only this resource'))
    .option('--failed', 'only what is not archived, grouped by reason; with --json, each')
    .addOption(
      new Option('--by <what>', 'how the archive grows, by the days of its runs or by cluster, the largest first')
        .choices(growthBy)
        .conflicts(['cluster', 'resource', 'failed']),
    )
    .addOption(
      new Option(
        '--stale <age>',
        'which clusters no run has archived whole for so long (24h, 3 days), since when and why',
      )
        .argParser(parseAge)
        .conflicts(['resource', 'failed', 'by']),
    )
    .option('--limit <count>', 'stop the table after so many rows; --json is never cut', parseCount, 20);
  const json = 'an array, an element per row, several absent runs in a row one by one';
  withHelp(withRuns(withClusters(command), terminal, 'all', json), terminal, helpText);
  return command.action((options: Options) =>
    readRuns(context, options, async (reader) => {
      const { cluster: clusters, by, stale, ...others } = options;
      if (by !== undefined) return printGrowth(terminal, reader, { ...others, by });
      if (stale !== undefined)
        return end(await printStaleClusters(terminal, reader, { ...others, stale, cluster: clusters }));
      const seen = { isCovered: false };
      const rows = rowsOf(reader, options, seen);
      if (options.json === true) await printJsonArray(terminal.out, summaries(rows));
      else if (options.failed === true) await printReasons(terminal, reader, rows);
      else {
        const found = await printRows(terminal, rows, options.limit);
        const left = clusters?.uid === undefined ? undefined : reader.lists.leftText(clusters.uid);
        if (left !== undefined) await print(terminal.err, `${printable(left)}\n`);
        if (found === 0 && reader.runs > 0 && (clusters === undefined || seen.isCovered))
          await print(terminal.err, `Nothing in ${printable(reader.archive.location)} matches.\n`);
      }
      if (reader.runs === 0) throw await noRuns(reader, 'Listing');
      if (clusters !== undefined && !seen.isCovered) throw await noSuchCluster(reader, clusters);
    }),
  );
}

/** What is listed: outcomes, and runs that are absent. @param seen whether any run covers the clusters, as far as rows were read */
async function* rowsOf(reader: RunReader, options: Options, seen: { isCovered: boolean }): AsyncGenerator<Row> {
  const { resource, cluster: clusters, failed } = options;
  for await (const row of reader.select(options)) {
    if (isAbsent(row)) yield row;
    seen.isCovered ||= row.outcomes.some(({ cluster }) => clusters?.matches(cluster) !== false);
    if (failed !== true) yield* outcomesOf(reader, row, { resource, clusters });
    else {
      // All of a run are looked for at once: of a large fleet this is not done.
      const { run, outcomes } = await reader.held.run({ ...row, outcomes: askedOf(row, { resource, clusters }) });
      for (const one of outcomes) if (!isStoredOrExpired(one)) yield { ...one, run, late: isLate(run, one.fetchedAt) };
    }
  }
}

/** Prints why something was not archived, the most frequent reason first. */
async function printReasons(terminal: Terminal, reader: RunReader, rows: AsyncIterable<Row>): Promise<void> {
  const outcomes: Pick<HeldOutcome, 'cluster' | 'outcome' | 'optional' | 'httpStatus' | 'error'>[] = [];
  let absent = 0;
  for await (const row of rows)
    if (isAbsent(row)) absent += row.times.length;
    // Of a long period they are many, and a reason needs no more of each.
    else {
      const { cluster, outcome, optional, httpStatus, error } = row;
      outcomes.push({ cluster, outcome, optional, httpStatus, error });
    }
  const lines = [...reasonsOf({ outcomes }), ...(absent > 0 ? [`${formatCount(absent, 'run')} absent`] : [])];
  if (lines.length > 0) await print(terminal.out, `${lines.join('\n')}\n`);
  if (reader.runs > 0)
    await print(terminal.err, `${lines.length > 0 ? 'Read' : 'Nothing failed in'} ${reader.span}.\n`);
}

/** Least width of uids beside times, which are never broken. */
const narrowestBesideRun = 7;

/** @returns how many outcomes there are, as far as they were read */
async function printRows(terminal: Terminal, rows: AsyncIterable<Row>, limit: number): Promise<number> {
  const found: Row[] = [];
  // One more shows whether there are more; nothing behind it is read.
  for await (const row of take(limit + 1, rows)) found.push(row);
  const shown = found.slice(0, limit);
  const run: Column<OutcomeRow> = { head: 'Run', cell: (row) => formatTime(row.run) };
  const table = shown.map((row) => (isAbsent(row) ? absentRow(row) : row));
  await printTable(terminal, [run, ...outcomeColumns(terminal, table, narrowestBesideRun)], table);
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
    const element: Record<string, unknown> = { run: row.run.toISOString() };
    for (const name of told) element[name] = (name === 'reason' ? (row.error ?? row.doubt) : row[name]) ?? null;
    yield element;
  }
}

const helpText = `
list reads the run records, and looks whether what they name is there: if not, it is missing. A run that the schedule was due to start and that left no record is a row too: absent.

--failed says why something was not archived, the most frequent reason first, with the first clusters of each. Of a run with more than 20,000 outcomes it does not look what is missing: --cluster chooses fewer. "runs
--cluster" says since when.

--by adds up what the run records of 30 days say, unless others are chosen: lengths as stored, in the archive as it was then, whatever
has expired since. The run records themselves count too; configurations and seals, which are few, do not.

--stale lists the clusters of the newest configuration that no run has archived whole for so long, or of which what was archived is
missing: also where no run came at all. Let --from, --last or --run reach back farther than the age: a cluster that none of the runs read archived is
not judged otherwise.

Exit codes: 0 done, 1 a cluster is --stale, an object is missing, or a run record is damaged, 2 wrong command line, 3 it could not be done, a run record could
not be read, or --stale could not judge each cluster.

Examples:
  npm run collector -- list --cluster my-cluster --from "3 days ago"
  npm run collector -- list --failed --from yesterday
  npm run collector -- list --stale 24h
  npm run collector -- list --from 2026-11-20 --resource manifest --json
  npm run collector -- list --by cluster --from 2026-11-01 --limit 50
  npm run --silent collector -- list --last 1 --json | jq -r '.[].key // empty'
`;
