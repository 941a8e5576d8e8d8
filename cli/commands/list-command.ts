import { Command } from 'commander';
import { type Resource, resourceNames } from '../../lambda/resources';
import { take } from '../../lambda/verify/newest-first';
import type { BadRecord } from '../../lambda/verify/read-run';
import type { ClusterFilter } from '../archive/cluster-filter';
import { type ListedContent, listContent } from '../archive/list-content';
import { openArchive } from '../archive/open-archive';
import { formatBytes, formatSecond, formatTime } from '../terminal/format';
import { exitCodeOfBad, printBadRecords } from '../terminal/print-run';
import { printable } from '../terminal/printable';
import { type Column, leftOutColumns, printTable } from '../terminal/table';
import { type CommandContext, exitCodes, print, printJsonArray, type Terminal } from '../terminal/terminal';
import {
  clusterOption,
  parseCount,
  type ReadOptions,
  type RunOptions,
  resourceOption,
  selectionOf,
  withArchive,
  withHelp,
  withRuns,
} from './options';

interface Options extends ReadOptions, RunOptions {
  readonly cluster?: ClusterFilter;
  readonly resource?: Resource;
  readonly keys?: boolean;
  readonly limit: number;
}

/** `list`: what is archived, in time order. */
export function listCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('list')
    .summary('the archived objects')
    .description('Lists archived objects by the time of their run. "late": fetched more than an hour after that time.')
    .addOption(clusterOption())
    .addOption(resourceOption('only objects of this resource'))
    .option('--keys', 'print only the key of each object, one per line')
    .option('--limit <count>', 'stop the table after so many rows; --json and --keys are never cut', parseCount, 20);
  withHelp(withArchive(withRuns(command, terminal, 'all')), terminal, helpText(terminal));
  return command.action(async (options: Options) => {
    if (options.keys === true && options.json === true)
      command.error('error: both --keys and --json; expected one of them');
    const reader = await openArchive(options.archive);
    const resources = options.resource === undefined ? resourceNames : [options.resource];
    const selection = selectionOf(options, undefined);
    const badRecords: BadRecord[] = [];
    const { cluster: clusters } = options;
    const onBadRecord = (record: BadRecord) => badRecords.push(record);
    const rows = listContent(reader, { resources, clusters, selection }, terminal.now(), onBadRecord);
    const count = await printRows(terminal, rows, options);
    if (count === 0) await print(terminal.err, `Nothing in ${printable(reader.location)} matches.\n`);
    await printBadRecords(terminal, badRecords);
    const code = exitCodeOfBad(badRecords);
    if (code !== exitCodes.ok) end(code);
  });
}

/** @returns the number of rows; undefined for JSON */
async function printRows(
  terminal: Terminal,
  rows: AsyncIterable<ListedContent>,
  { keys, json, limit }: Options,
): Promise<number | undefined> {
  if (json === true) {
    await printJsonArray(terminal.out, rows);
    return undefined;
  }
  let count = 0;
  if (keys !== true) {
    // One more shows whether there are more; nothing behind it is read.
    const shown = async function* () {
      for await (const row of take(limit + 1, rows)) {
        count += 1;
        if (count <= limit) yield row;
      }
    };
    await printTable(terminal, contentColumns(terminal), shown());
    if (count > limit)
      await print(terminal.err, `The list stopped after ${limit} rows; --limit, --last or --from choose others.\n`);
    return count;
  }
  for await (const { key } of rows) {
    await print(terminal.out, `${key}\n`);
    count += 1;
  }
  return count;
}

function contentColumns({ colors }: Pick<Terminal, 'colors'>): Column<ListedContent>[] {
  return [
    { head: 'Run', cell: (row) => formatTime(row.run) },
    {
      head: 'Fetched',
      cell: (row) => (row.fetchedAt === null ? '' : `${formatSecond(row.fetchedAt)}${row.late ? ' late' : ''}`),
      color: (text, row) => (row.late ? colors.yellow(text) : text),
      leftOut: 4,
    },
    { head: 'Cluster', cell: (row) => row.cluster, wraps: true },
    { head: 'Resource', cell: (row) => row.resource },
    { head: 'Content', cell: (row) => formatBytes(row.bytes ?? undefined), align: 'right', leftOut: 3 },
    { head: 'Stored', cell: (row) => formatBytes(row.storedBytes ?? undefined), align: 'right', leftOut: 1 },
    { head: 'State', cell: (row) => row.state ?? '', wraps: true, leftOut: 2 },
  ];
}

const helpText = (terminal: Terminal) => `
With the uid of one cluster, list reads the metadata of its objects; otherwise it reads the run records.

${leftOutColumns('the list', contentColumns(terminal))}

With --json: an array, an element per object.

Exit codes: 0 done, 1 a run record is damaged, 2 wrong command line, 3 it could not be done, or
a run record could not be read.

Examples:
  npm run collector -- list --cluster my-cluster --from "3 days ago"
  npm run collector -- list --from 2026-11-20 --resource manifest --json
  npm run --silent collector -- list --last 1 --keys
`;
