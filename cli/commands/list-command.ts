import { Command } from 'commander';
import { parseObjectKey } from '../../lambda/archive/archive-layout';
import { type Resource, resourceNames } from '../../lambda/resources';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type BadRecord, isLate, readRun } from '../../lambda/verify/read-run';
import type { ClusterFilter } from '../archive/cluster-filter';
import { clusterObjects, describe } from '../archive/cluster-objects';
import { openArchive } from '../archive/open-archive';
import { type RunSelection, selectPeriod, selectRuns } from '../archive/select-runs';
import { formatBytes, formatSecond, formatTime } from '../terminal/format';
import { printBadRecords } from '../terminal/print-run';
import { printable } from '../terminal/printable';
import { type Column, leftOutColumns, printTable } from '../terminal/table';
import { type CommandContext, exitCodes, print, printJsonArray, type Terminal } from '../terminal/terminal';
import {
  type ArchiveOption,
  checkPeriod,
  clusterOption,
  type JsonOption,
  type RunOptions,
  resourceOption,
  selectionOf,
  withArchive,
  withJson,
  withRuns,
} from './options';

interface Options extends ArchiveOption, JsonOption, RunOptions {
  readonly cluster?: ClusterFilter;
  readonly resource?: Resource;
  readonly keys?: boolean;
}

/** One line of the list, and one element of its JSON. */
interface ListedContent {
  readonly run: string;
  readonly fetchedAt: string | null;
  readonly late: boolean;
  readonly cluster: string;
  readonly resource: Resource;
  readonly bytes: number | null;
  readonly storedBytes: number | null;
  readonly state: string | null;
  readonly sha256: string | null;
  readonly key: string;
}

/** `list`: what is archived, in time order. */
export function listCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('list')
    .description('Lists archived objects by the time of their run. "late": fetched more than an hour after that time.')
    .addOption(clusterOption())
    .addOption(resourceOption('only objects of this resource'))
    .option('--keys', 'print only the key of each object, one per line')
    .addHelpText('after', helpText(terminal));
  withJson(withArchive(withRuns(command, terminal, 'all')));
  return command.action(async (options: Options) => {
    checkPeriod(command, options);
    if (options.keys === true && options.json === true)
      command.error('error: both --keys and --json; expected one of them');
    const reader = await openArchive(options.archive);
    const resources = options.resource === undefined ? resourceNames : [options.resource];
    const selection = selectionOf(options, undefined);
    const badRecords: BadRecord[] = [];
    const uid = options.cluster?.uid;
    const rows =
      uid === undefined
        ? contentOfRuns(reader, resources, options.cluster, selection, terminal.now(), badRecords)
        : contentOfCluster(reader, resources, uid, selection, terminal.now());
    const count = await printRows(terminal, rows, options);
    if (count === 0) await print(terminal.err, `Nothing in ${printable(reader.location)} matches.\n`);
    await printBadRecords(terminal, badRecords);
    if (badRecords.length > 0) end(exitCodes.found);
  });
}

/** @returns the number of rows; undefined for JSON */
async function printRows(
  terminal: Terminal,
  rows: AsyncIterable<ListedContent>,
  { keys, json }: Options,
): Promise<number | undefined> {
  if (json === true) {
    await printJsonArray(terminal.out, rows);
    return undefined;
  }
  if (keys !== true) return printTable(terminal, contentColumns(terminal), rows);
  let count = 0;
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

/** One cluster: from its own part of the archive, with the metadata of the objects. */
async function* contentOfCluster(
  reader: ArchiveReader,
  resources: readonly Resource[],
  cluster: string,
  selection: RunSelection,
  now: Date,
): AsyncGenerator<ListedContent> {
  const period = await selectPeriod(reader, selection, now);
  if (period === undefined) return;
  const described = resources.map((resource) => describe(reader, clusterObjects(reader, resource, cluster, period)));
  for await (const { run, facts, resource, storedBytes, key } of byRun(described)) {
    yield {
      run: run.toISOString(),
      fetchedAt: facts?.fetchedAt.toISOString() ?? null,
      late: isLate(run, facts?.fetchedAt),
      cluster,
      resource,
      bytes: facts?.length ?? null,
      storedBytes,
      state: facts?.state ?? null,
      sha256: facts?.sha256 ?? null,
      key,
    };
  }
}

/** Many clusters: keys sort by cluster first, so the run records say what each run has. */
async function* contentOfRuns(
  reader: ArchiveReader,
  resources: readonly Resource[],
  clusters: ClusterFilter | undefined,
  selection: RunSelection,
  now: Date,
  badRecords: BadRecord[],
): AsyncGenerator<ListedContent> {
  for await (const listed of selectRuns(reader, selection, now)) {
    const run = await readRun(reader, listed);
    badRecords.push(...run.badRecords);
    for (const outcome of run.outcomes) {
      const { cluster, resource, key, fetchedAt, bytes, storedBytes, state, sha256 } = outcome;
      if (clusters?.matches(cluster) === false || !resources.includes(resource)) continue;
      if (key === undefined || parseObjectKey(key) === undefined) continue;
      yield {
        run: run.run.toISOString(),
        fetchedAt: fetchedAt ?? null,
        late: isLate(run.run, fetchedAt),
        cluster,
        resource,
        bytes: bytes ?? null,
        storedBytes: storedBytes ?? null,
        state: state ?? null,
        sha256: sha256 ?? null,
        key,
      };
    }
  }
}

/** Merges sequences that are each in the order of their runs. */
async function* byRun<Item extends { readonly run: Date }>(sources: readonly AsyncGenerator<Item>[]) {
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    let first = -1;
    heads.forEach((head, at) => {
      const best = heads[first];
      if (head.done !== true && (best === undefined || best.done === true || head.value.run < best.value.run))
        first = at;
    });
    const head = heads[first];
    const source = sources[first];
    if (head === undefined || head.done === true || source === undefined) return;
    yield head.value;
    heads[first] = await source.next();
  }
}

const helpText = (terminal: Terminal) =>
  `
Of one cluster, the metadata of the objects is read; of several, the run records.
${leftOutColumns('the list', contentColumns(terminal))}
With --json: an array, an element per object.
Exit codes: 0 done, 1 a run record is damaged, 2 wrong command line, 3 it could not be done.

Examples:
  npm run collector -- list --cluster my-cluster --from "3 days ago"
  npm run collector -- list --from 2026-11-20 --resource manifest --json
  npm run --silent collector -- list --last 1 --keys
`.trimEnd();
