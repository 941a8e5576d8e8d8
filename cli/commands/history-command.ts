import { Command } from 'commander';
import type { Resource } from '../../lambda/resources';
import { clusterFilter } from '../archive/cluster-names';
import { type ArchivedContent, type Change, type Changes, findChanges } from '../archive/find-changes';
import { archiveArgument, openArchiveNow } from '../archive/open-archive';
import { nothingOf } from '../archive/select-object';
import { formatBytes, formatCount, formatTime, shellQuoted } from '../terminal/format';
import { Progress } from '../terminal/progress';
import { type Column, printTable } from '../terminal/table';
import { type CommandContext, print, printJsonArray, type Terminal } from '../terminal/terminal';
import { type FleetHistoryOptions, printFleetHistory } from './fleet-history';
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
import { RecordRemarks } from './record-remarks';

interface Options extends RunOptions, Pick<FleetHistoryOptions, 'resource' | 'limit'> {
  readonly all?: boolean;
}

/** How many of the newest runs are compared with --all, unless others are asked for. */
const defaultRuns = 20;

/** The resource whose changes are shown unless another is named, as by `show` and `diff`. */
const usualResource: Resource = 'manifest';

/** `history`: when the content of a cluster changed. */
export function historyCommand(context: CommandContext): Command {
  const { terminal, end } = context;
  const command = new Command('history')
    .summary('when manifests changed')
    .description('Lists the runs in which a manifest changed, newest first, with the command that shows each change.')
    .argument('[cluster]', "the cluster's uid, or with --all a pattern with * and ?")
    .option('--all', 'what changed of all clusters, each change once')
    .addOption(resourceOption('what may have changed', usualResource))
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
    const { archive, now } = await openArchiveNow(options.archive, terminal);
    const progress = new Progress(terminal, 'Reading run records', { now: 'newest first' });
    const onRun = (run: Date) => progress.update({ now: `back to ${formatTime(run)}` });
    const found = await findChanges(archive, { ...options, cluster }, now, onRun).finally(() => progress.stop());
    const remarks = new RecordRemarks(found.remarks.map((one) => ({ ...one, resource: options.resource, cluster })));
    await remarks.print(terminal);
    if (found.runs === 0 && found.remarks.length === 0)
      throw await nothingOf(archive, options.resource, cluster, options, now);
    if (options.json === true) await printJsonArray(terminal.out, found.changes.map(summarizeChange));
    else await printTable(terminal, changeColumns(terminal, cluster, options), found.changes);
    await print(terminal.err, `${summary(found, options)}\n`);
    end(remarks.ending());
  });
}

function changeColumns({ colors }: Terminal, cluster: string, { resource, archive }: Options): Column<Change>[] {
  const which = `${shellQuoted(cluster)}${resource === usualResource ? '' : ` --resource ${resource}`}`;
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
    { head: 'Content', cell: ({ content }) => formatBytes(content.bytes), align: 'right', leftOut: 2 },
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

function summarizeContent({ run, fetchedAt, key, sha256, bytes }: ArchivedContent) {
  return { run: run.toISOString(), fetchedAt, key, sha256, bytes };
}

/** What was looked at, so that nobody takes a bounded search for all there is. */
function summary({ changes, runs, newest, oldest }: Changes, { resource, limit }: Options): string {
  const count = changes.filter(({ before }) => before !== undefined).length;
  const searched =
    newest === undefined || oldest === undefined ? '' : `, ${formatTime(oldest)} to ${formatTime(newest)}`;
  const stopped = changes.length === limit ? ` The search stopped after ${limit}; --limit sets how many.` : '';
  return `${formatCount(count, 'change')} in ${formatCount(runs, 'run')} that archived the ${resource}${searched}.${stopped}`;
}

const helpText = `
A change is between two runs that archived the cluster; other runs are passed over. history reads the run records and no
content, the newest first, until it has found --limit changes. An object that is not what the run records say is named on
standard error.

With --all it lists every change of the period once, also what was changed back: all clusters
that changed in one run are one line.

With --json: an array, an element per change, with what was before it; with --all the oldest first, and never cut.

Exit codes: 0 done, 1 an object is not what its run record says, or a run record is damaged, 2 wrong command line, 3 it could
not be done.

Examples:
  npm run collector -- history my-cluster
  npm run collector -- history my-cluster --last 100
  npm run collector -- history --all --from "7 days ago"
  npm run collector -- history --all "prod-*" --from 2026-11-20T09:00 --to 2026-11-20T12:00
`;
