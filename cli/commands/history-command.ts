import { Command } from 'commander';
import type { Resource } from '../../lambda/resources';
import { isStored } from '../../lambda/run/run-record';
import { bytesOfRecords } from '../../lambda/verify/record-lines';
import { type Change, changesIn } from '../archive/changes';
import { clusterFilter } from '../archive/cluster-names';
import { listOutcomes } from '../archive/list-outcomes';
import { archiveArgument } from '../archive/open-archive';
import { isAbsent, type RunReader } from '../archive/run-reader';
import { nothingOf } from '../archive/select-object';
import { changeText } from '../terminal/cluster-change';
import { formatBytes, formatCount, formatPeriod, formatTime, shellQuoted } from '../terminal/format';
import { printable } from '../terminal/printable';
import { Progress, printVolume } from '../terminal/progress';
import { type CommandContext, print, printJsonArray, type Terminal } from '../terminal/terminal';
import {
  parseCount,
  type RunOptions,
  readRuns,
  resourceOption,
  selectionOf,
  withArchive,
  withHelp,
  withLast,
  withPeriod,
} from './options';

interface Options extends RunOptions {
  readonly resource: Resource;
  readonly limit: number;
  readonly all?: boolean;
}

/** How many of the newest runs are compared, unless others are asked for: of a fleet, and of one cluster. */
const [runsOfFleet, runsOfCluster] = [20, 720];

/** Most clusters that a line names. */
const mostNamed = 100;

/** The resource whose changes are shown unless another is named, as by `show` and `diff`. */
const usualResource: Resource = 'manifest';

/** `history`: when the content of a cluster, or of a fleet, changed. */
export function historyCommand(context: CommandContext): Command {
  const { terminal } = context;
  const command = new Command('history')
    .summary('when manifests changed')
    .description('Lists the runs in which a manifest changed, newest first, with the command that shows each change.')
    .argument('[cluster]', "the cluster's uid, or with --all a pattern with * and ?")
    .option('--all', 'what changed of all clusters, each change once')
    .addOption(resourceOption('what may have changed', usualResource))
    .option('--limit <count>', 'print so many changes, with --all so many lines', parseCount, 20);
  withLast(withPeriod(command, terminal), 'runs', `${runsOfCluster}, with --all ${runsOfFleet}, with --from all`);
  withHelp(withArchive(command), terminal, helpText);
  return command.action(async (cluster: string | undefined, options: Options) => {
    const clusters = cluster === undefined ? undefined : clusterFilter(cluster);
    if (clusters === undefined && options.all !== true)
      return command.error("error: nothing to look at; expected a cluster's uid, or --all");
    // With --all, a uid may be a pattern that matches nothing else.
    const uid = options.all === true ? clusters?.uid : cluster;
    await readRuns(context, options, async (reader) => {
      const selection = selectionOf(options, uid === undefined ? runsOfFleet : runsOfCluster);
      if (uid !== undefined) return printOfCluster(terminal, reader, uid, { ...options, ...selection });
      const rows = listOutcomes(reader.archive, reader.select(selection), { resource: options.resource, clusters });
      await printOfFleet(terminal, reader, changesIn(reader, options.resource, rows), options);
    });
  });
}

async function printOfCluster(terminal: Terminal, reader: RunReader, cluster: string, options: Options): Promise<void> {
  const { resource, limit, json } = options;
  const runs = await reader.list(options);
  await printVolume(terminal, bytesOfRecords(runs, cluster));
  const progress = new Progress(terminal, 'Reading run records', { now: 'oldest first' });
  const looked: Date[] = [];
  const archived = async function* () {
    for await (const row of listOutcomes(reader.archive, reader.ofCluster(runs, cluster), { resource })) {
      if (isAbsent(row) || !isStored(row)) continue;
      looked.push(row.run);
      progress.update({ now: `up to ${formatTime(row.run)}` });
      yield row;
    }
  };
  const changes: Change[] = [];
  try {
    for await (const change of changesIn(reader, resource, archived())) changes.push(change);
  } finally {
    progress.stop();
  }
  if (looked.length === 0)
    throw await nothingOf(reader, resource, cluster, { from: runs[0]?.run, to: runs.at(-1)?.run });
  if (json === true) await printJsonArray(terminal.out, changes);
  else
    for (const change of changes.slice(-limit).reverse())
      await print(terminal.out, changeLine(terminal, change, options));
  const which = `${formatCount(looked.length, 'run')} that archived the ${resource}`;
  await printSummary(terminal, changes, which, [looked[0], looked.at(-1)], changes.length, limit);
}

/** `2026-11-20T10:00:00Z changed (15.5 KiB): npm run collector -- diff my-cluster --run 2026-11-20T10:00:00Z` */
function changeLine(
  { colors }: Terminal,
  { cluster, run, change, bytes }: Change,
  { resource, archive }: Options,
): string {
  const which = `${shellQuoted(cluster)}${resource === usualResource ? '' : ` --resource ${resource}`}`;
  const command = `${change === 'first' ? 'show' : 'diff'} ${which} --run ${formatTime(run)}${archiveArgument(archive)}`;
  return `${headOf(colors, run, change)} (${formatBytes(bytes)}): npm run collector -- ${printable(command)}\n`;
}

function headOf(colors: Terminal['colors'], run: Date, change: Change['change']): string {
  return `${formatTime(run)} ${change === 'first' ? colors.cyan(change) : colors.yellow(change)}`;
}

/** Prints what changed in a fleet, newest first, the clusters of one run on one line; as JSON each change, oldest first. */
async function printOfFleet(terminal: Terminal, reader: RunReader, found: AsyncIterable<Change>, options: Options) {
  const { limit, json, resource } = options;
  if (json === true) return printJsonArray(terminal.out, withMembers(reader, found));
  const { colors } = terminal;
  // The clusters of one line by the beginning of the line.
  const lines = new Map<string, string[]>();
  const changes: Pick<Change, 'change'>[] = [];
  for await (const { cluster, run, change } of found) {
    const head = headOf(colors, run, change);
    const names = lines.get(head) ?? [];
    names.push(cluster);
    // The line of the newest change comes last.
    lines.delete(head);
    lines.set(head, names);
    changes.push({ change });
  }
  for (const change of [...reader.clusterChanges].reverse().slice(0, limit))
    await print(terminal.out, `${formatTime(change.run)} ${printable(changeText(change))}\n`);
  for (const [head, names] of [...lines].reverse().slice(0, limit))
    await print(terminal.out, `${head}: ${formatCount(names.length, 'cluster')}: ${someOf(names)}\n`);
  const which = `the ${resource}s of ${formatCount(reader.runs, 'run')}`;
  await printSummary(terminal, changes, which, [reader.oldest, reader.newest], lines.size, limit);
}

/** The changes, and then who joined and who left a list of clusters. */
async function* withMembers({ clusterChanges }: RunReader, found: AsyncIterable<Change>) {
  yield* found;
  for (const { run, joined, left } of clusterChanges) {
    for (const cluster of joined) yield { cluster, run, change: 'joined' };
    for (const cluster of left) yield { cluster, run, change: 'left' };
  }
}

/** What was looked at, so that nobody takes a part of the archive for all of it. */
async function printSummary(
  { err }: Terminal,
  changes: readonly Pick<Change, 'change'>[],
  which: string,
  [from, to]: readonly [Date | undefined, Date | undefined],
  lines: number,
  limit: number,
) {
  const count = changes.filter(({ change }) => change !== 'first').length;
  const stopped = lines > limit ? ` The list stopped after ${limit} of ${lines}; --limit sets how many.` : '';
  await print(err, `${formatCount(count, 'change')} in ${which}${formatPeriod({ from, to })}.${stopped}\n`);
}

function someOf(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return printable(`${names.slice(0, mostNamed).join(', ')}${more > 0 ? `, and ${more} more; --json has all` : ''}`);
}

const helpText = `
A change is between two runs that archived the cluster; other runs are passed over. history reads the run records alone.

With --all, all clusters that changed in one run are one line.

With --json: an array, an element per change, the oldest first, never cut.

Exit codes: 0 done, 1 a run record is damaged, 2 wrong command line, 3 it could not be done, or a run record could not
be read.

Examples:
  npm run collector -- history my-cluster
  npm run collector -- history my-cluster --from "90 days ago"
  npm run collector -- history --all --from "7 days ago"
  npm run collector -- history --all "prod-*" --from 2026-11-20T09:00 --to 2026-11-20T12:00
`;
