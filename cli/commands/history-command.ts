import { Command, Option } from 'commander';
import { clusterFilter } from '../archive/cluster-names';
import { summarizeContent } from '../archive/cluster-objects';
import { type Change, type Changes, findChanges } from '../archive/find-changes';
import { archiveArgument, openArchive } from '../archive/open-archive';
import { nothingOf } from '../archive/select-object';
import { formatBytes, formatCount, formatTime, shellQuoted } from '../terminal/format';
import { type Column, printTable } from '../terminal/table';
import { type CommandContext, print, printJsonArray, printProblem, type Terminal } from '../terminal/terminal';
import { type FleetHistoryOptions, groupings, printFleetHistory } from './fleet-history';
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

interface Options extends RunOptions, Pick<FleetHistoryOptions, 'resource' | 'by' | 'limit'> {
  readonly all?: boolean;
}

/** How many of the newest runs are compared with --all, unless others are asked for. */
const defaultRuns = 20;

/** `history`: when the content of a cluster changed. */
export function historyCommand(context: CommandContext): Command {
  const { terminal, end } = context;
  const command = new Command('history')
    .summary('when manifests changed')
    .description('Lists the runs in which a manifest changed, newest first, with the command that shows each change.')
    .argument('[cluster]', "the cluster's uid, or with --all a pattern with * and ?")
    .option('--all', 'what changed of all clusters, each change once')
    .addOption(
      new Option('--by <what>', 'with --all: a line per run, or per cluster').choices(groupings).default('run'),
    )
    .addOption(resourceOption('what may have changed', 'manifest'))
    .option('--limit <count>', 'stop after so many changes, with --all after so many lines', parseCount, 20);
  withLast(withPeriod(command, terminal), 'runs', `all that archived it, with --all ${defaultRuns} or --from`);
  withHelp(withArchive(command), terminal, helpText);
  return command.action(async (cluster: string | undefined, options: Options) => {
    if (options.all === true) {
      const clusters = cluster === undefined ? undefined : clusterFilter(cluster);
      const scope = { ...options, clusters, selection: selectionOf(options, defaultRuns) };
      return readRuns(context, options, (reader) => printFleetHistory(terminal, reader, scope));
    }
    if (cluster === undefined) return command.error("error: nothing to look at; expected a cluster's uid, or --all");
    const reader = await openArchive(options.archive);
    const found = await findChanges(reader, { ...options, cluster }, terminal.now());
    for (const { key } of found.damaged)
      await printProblem(terminal, 'damaged:', `${key}: its metadata is absent or malformed`);
    if (found.objects === 0 && found.damaged.length === 0)
      throw await nothingOf(reader, options.resource, cluster, options, terminal.now());
    if (options.json === true) await printJsonArray(terminal.out, found.changes.map(summarizeChange));
    else await printTable(terminal, changeColumns(terminal, cluster, options), found.changes);
    await print(terminal.err, `${summary(found, options)}\n`);
    if (found.damaged.length > 0) end('found');
  });
}

function changeColumns({ colors }: Terminal, cluster: string, { resource, archive }: Options): Column<Change>[] {
  const which = `${shellQuoted(cluster)}${resource === 'manifest' ? '' : ` --resource ${resource}`}`;
  const command = (time: string, isFirst: boolean) =>
    `${isFirst ? 'show' : 'diff'} ${which} --run ${time}${archiveArgument(archive)}`;
  return [
    { head: 'Run', cell: ({ content }) => formatTime(content.run), leftOut: 4 },
    {
      head: 'Change',
      cell: ({ before }) => (before === undefined ? 'first' : 'changed'),
      color: (text, { before }) => (before === undefined ? colors.cyan(text) : colors.yellow(text)),
      leftOut: 3,
    },
    { head: 'Content', cell: ({ content }) => formatBytes(content.facts.length), align: 'right', leftOut: 2 },
    { head: 'Same for', cell: ({ runs }) => formatCount(runs, 'run'), align: 'right', leftOut: 1 },
    {
      head: 'npm run collector --',
      cell: ({ content, before }) => command(formatTime(content.run), before === undefined),
      wraps: true,
      narrowest: 54,
    },
  ];
}

function summarizeChange({ content, before, runs }: Change) {
  return { ...summarizeContent(content), runs, before: before === undefined ? null : summarizeContent(before) };
}

/** What was looked at, so that nobody takes a bounded search for all there is. */
function summary({ changes, objects, newest, oldest }: Changes, { resource, limit }: Options): string {
  const count = changes.filter(({ before }) => before !== undefined).length;
  const searched =
    newest === undefined || oldest === undefined ? '' : `, ${formatTime(oldest)} to ${formatTime(newest)}`;
  const stopped = changes.length === limit ? ` The search stopped after ${limit}; --limit sets how many.` : '';
  return `${formatCount(count, 'change')} in ${formatCount(objects, 'run')} that archived the ${resource}${searched}.${stopped}`;
}

const helpText = `
A change is between two runs that archived the cluster; other runs are passed over. history reads only metadata, the
newest first, until it has found --limit changes.

With --all it reads the run records, and lists every change of the period once, also what was changed back: all clusters
that changed in one run are one line, or with --by cluster all changes of one cluster.

With --json: an array, an element per change, with what was before it; with --all the oldest first, and never cut.

Exit codes: 0 done, 1 the metadata of an object, or a run record, is damaged, 2 wrong command line, 3 it could
not be done.

Examples:
  npm run collector -- history my-cluster
  npm run collector -- history my-cluster --last 100
  npm run collector -- history --all --from "7 days ago"
  npm run collector -- history --all "prod-*" --by cluster
`;
