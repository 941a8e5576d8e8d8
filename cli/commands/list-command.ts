import { Command } from 'commander';
import { parseObjectKey } from '../../lambda/archive/archive-layout';
import { type Resource, resourceNames } from '../../lambda/resources';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { isLate, readRun } from '../../lambda/verify/read-run';
import { type Period, runsBetween } from '../../lambda/verify/run-keys';
import { clusterObjects, describe } from '../archive/cluster-objects';
import { openArchive } from '../archive/open-archive';
import { formatBytes, formatSecond, formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { printTable } from '../terminal/table';
import { type CommandContext, exitCodes, print, printJsonArray } from '../terminal/terminal';
import {
  type ArchiveOption,
  checkPeriod,
  type JsonOption,
  type PeriodOptions,
  resourceOption,
  withArchive,
  withJson,
  withPeriod,
} from './archive-options';

interface Options extends ArchiveOption, JsonOption, PeriodOptions {
  readonly cluster?: string;
  readonly resource?: Resource;
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
    .option('--cluster <uid>', 'only objects of this cluster')
    .addOption(resourceOption('only objects of this resource'))
    .addHelpText('after', helpText);
  withJson(withArchive(withPeriod(command, 'runs')));
  return command.action(async (options: Options) => {
    checkPeriod(command, options);
    const reader = await openArchive(options.archive);
    const resources = options.resource === undefined ? resourceNames : [options.resource];
    const bad: string[] = [];
    const rows =
      options.cluster === undefined
        ? contentOfRuns(reader, resources, options, bad)
        : contentOfCluster(reader, resources, options.cluster, options);
    if (options.json === true) await printJsonArray(terminal.out, rows);
    else {
      const { colors } = terminal;
      const count = await printTable(
        terminal,
        [
          { head: 'Run', cell: (row) => formatTime(row.run) },
          {
            head: 'Fetched',
            cell: (row) => (row.fetchedAt === null ? '' : `${formatSecond(row.fetchedAt)}${row.late ? ' late' : ''}`),
            color: (text, row) => (row.late ? colors.yellow(text) : text),
          },
          { head: 'Cluster', cell: (row) => row.cluster, gives: true },
          { head: 'Resource', cell: (row) => row.resource },
          { head: 'Content', cell: (row) => formatBytes(row.bytes ?? undefined), align: 'right' },
          { head: 'Stored', cell: (row) => formatBytes(row.storedBytes ?? undefined), align: 'right' },
          { head: 'State', cell: (row) => row.state ?? '', gives: true },
        ],
        rows,
      );
      if (count === 0) await print(terminal.err, `Nothing in ${printable(reader.location)} matches.\n`);
    }
    for (const problem of bad)
      await print(terminal.err, `${terminal.errColors.red('bad run record')} ${printable(problem)}\n`);
    if (bad.length > 0) end(exitCodes.found);
  });
}

/** One cluster: from its own part of the archive, with what the objects say about themselves. */
async function* contentOfCluster(
  reader: ArchiveReader,
  resources: readonly Resource[],
  cluster: string,
  period: Period,
): AsyncGenerator<ListedContent> {
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

/** All clusters: keys sort by cluster first, so the run records say what each run has. */
async function* contentOfRuns(
  reader: ArchiveReader,
  resources: readonly Resource[],
  period: Period,
  bad: string[],
): AsyncGenerator<ListedContent> {
  for await (const listed of runsBetween(reader, period)) {
    const { run, outcomes, badRecords } = await readRun(reader, listed);
    bad.push(...badRecords.map(({ key, problem }) => `${key}: ${problem}`));
    for (const outcome of outcomes) {
      const { cluster, resource, key, fetchedAt, bytes, storedBytes, state, sha256 } = outcome;
      if (key === undefined || !resources.includes(resource) || parseObjectKey(key) === undefined) continue;
      yield {
        run: run.toISOString(),
        fetchedAt: fetchedAt ?? null,
        late: isLate(run, fetchedAt),
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

const helpText = `
With --cluster the objects themselves are asked; without, the run records say what there is.
With --json: an array, an element per object.
Exit codes: 0 done, 1 a run record is damaged, 2 wrong command line, 3 it could not be done.

Examples:
  npm run collector -- list --cluster my-cluster
  npm run collector -- list --from 2026-11-20 --resource manifest --json
`.trimEnd();
