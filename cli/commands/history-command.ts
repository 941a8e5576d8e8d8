import { Command } from 'commander';
import { DamagedObjectError } from '../../archive/format/damaged-object-error';
import { parseObjectKey } from '../../archive/format/keys';
import type { Resource } from '../../archive/format/resources';
import { isStored } from '../../archive/format/run-record';
import { ArchiveReadError, bytesOfRecords, type ClusterRecord } from '../../archive/read';
import { isAbsent } from '../archive/absent-runs';
import { type Change, changesIn } from '../archive/changes';
import { clusterFilter } from '../archive/cluster-names';
import { archiveArgument } from '../archive/open-archive';
import { readText } from '../archive/read-text';
import type { RunReader } from '../archive/run-reader';
import { nothingOf } from '../archive/select-object';
import { noRuns } from '../archive/select-runs';
import type { LinePattern } from '../search/line-pattern';
import { isSameButNoise } from '../search/noise';
import { otherContent } from '../search/search-object';
import { changeText } from '../terminal/cluster-change';
import { atMost, formatBytes, formatCount, formatTime, shellQuoted } from '../terminal/format';
import { printable } from '../terminal/printable';
import { Progress, printVolume } from '../terminal/progress';
import { type CommandContext, print, printJsonArray, type Terminal } from '../terminal/terminal';
import {
  ignoreOption,
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
  readonly ignore?: LinePattern;
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
    .option('--limit <count>', 'print so many changes, with --all so many lines', parseCount, 20)
    .addOption(ignoreOption());
  withLast(withPeriod(command, terminal), 'runs', `${runsOfCluster}, with --all ${runsOfFleet}, with --from all`);
  withHelp(withArchive(command, 'an array, an element per change, the oldest first, never cut'), terminal, helpText);
  return command.action(async (cluster: string | undefined, options: Options) => {
    const clusters = cluster === undefined ? undefined : clusterFilter(cluster);
    if (clusters === undefined && options.all !== true)
      return command.error("error: nothing to look at; expected a cluster's uid, or --all");
    // With --all, a uid may be a pattern that matches nothing else.
    const uid = options.all === true ? clusters?.uid : cluster;
    await readRuns(context, options, async (reader) => {
      const { resource } = options;
      const selection = { ...options, ...selectionOf(options, uid === undefined ? runsOfFleet : runsOfCluster) };
      const runs = uid === undefined ? reader.select(selection) : runsOf(terminal, reader, uid, selection);
      const all = changesIn(reader, runs, uid === undefined ? { resource, clusters } : { resource });
      const ignored = { count: 0 };
      const changes = options.ignore === undefined ? all : withoutNoise(reader, all, resource, options.ignore, ignored);
      if (options.json === true) await printJsonArray(terminal.out, withMembers(reader, changes));
      else await printChanges(terminal, reader, uid, changes, options);
      if (reader.runs === 0) throw await noRuns(reader, 'Finding changes');
      if (options.ignore !== undefined)
        await print(terminal.err, `${formatCount(ignored.count, 'change')} only in lines that --ignore matches.\n`);
    });
  });
}

/**
 * What runs say of one cluster. It may be much to read: says so, and how far it is.
 * @throws ArchiveReadError too if none of them archived it
 */
async function* runsOf(
  terminal: Terminal,
  reader: RunReader,
  cluster: string,
  options: Options,
): AsyncGenerator<ClusterRecord> {
  const { resource } = options;
  const runs = await reader.list(options);
  await printVolume(terminal, bytesOfRecords(runs, cluster));
  const progress = new Progress(terminal, 'Reading run records', { now: 'oldest first' });
  let isArchived = false;
  try {
    for await (const record of reader.ofCluster(runs, cluster)) {
      if (isAbsent(record)) continue;
      progress.update({ now: `up to ${formatTime(record.run)}` });
      isArchived ||= record.outcomes.some((outcome) => outcome.resource === resource && isStored(outcome));
      yield record;
    }
  } finally {
    progress.stop();
  }
  if (!isArchived) throw await nothingOf(reader, resource, cluster, { from: reader.oldest, to: reader.newest });
}

/**
 * The changes that are in other lines too than those that match: reads both contents of each. A change stays
 * if one of them cannot be read, which is one of the problems, or is not there, which is one unless it has expired.
 */
async function* withoutNoise(
  reader: RunReader,
  changes: AsyncIterable<Change>,
  resource: Resource,
  isNoise: LinePattern,
  ignored: { count: number },
): AsyncGenerator<Change> {
  for await (const change of changes) {
    if (await isOnlyNoise(reader, change, resource, isNoise)) ignored.count += 1;
    else yield change;
  }
}

async function isOnlyNoise(
  reader: RunReader,
  { key = '', sha256, keyBefore, before: sha256Before }: Change,
  resource: Resource,
  isNoise: LinePattern,
): Promise<boolean> {
  if (keyBefore === undefined) return false;
  const before = await textIfThere(reader, keyBefore, sha256Before, resource);
  const after = await textIfThere(reader, key, sha256, resource);
  return before !== undefined && after !== undefined && isSameButNoise(before, after, isNoise);
}

/**
 * @param sha256 by which the change was found
 * @returns undefined: it cannot be read, is not there, or is another; what is wrong with that is one of the problems
 */
async function textIfThere(
  reader: RunReader,
  key: string,
  sha256: string | null,
  resource: Resource,
): Promise<string | undefined> {
  // A run record may name any key: one that an archive cannot have is not looked up.
  const name = parseObjectKey(key);
  if (name === undefined) return undefined;
  if (!(await reader.held.isThere(name))) {
    // What the runs of the period archived was judged with them.
    const isBefore = reader.oldest !== undefined && name.run < reader.oldest;
    const missing = isBefore ? await reader.held.goneAt(name) : undefined;
    if (missing !== undefined) reader.problems.push(missing);
    return undefined;
  }
  try {
    const { text, facts } = await readText(reader.archive, key, resource);
    if (facts.sha256 === sha256) return text;
    reader.problems.push(otherContent(key, sha256 ?? undefined));
    return undefined;
  } catch (error) {
    if (error instanceof ArchiveReadError) reader.problems.push({ kind: 'unreadable', key, problem: error.message });
    else if (error instanceof DamagedObjectError)
      reader.problems.push({ kind: 'damaged', key, problem: error.message });
    else throw error;
    return undefined;
  }
}

/**
 * Prints what changed, newest first: of one cluster each change with its command, of a fleet the clusters of one run on one
 * line. Then says what was looked at, so that nobody takes a part of the archive for all of it.
 * @param uid undefined: of a fleet
 */
async function printChanges(
  { out, err, colors }: Terminal,
  reader: RunReader,
  uid: string | undefined,
  found: AsyncIterable<Change>,
  options: Options,
): Promise<void> {
  const { limit, resource } = options;
  let count = 0;
  // What belongs on one line by the beginning of the line.
  const lines = new Map<string, string[]>();
  for await (const one of found) {
    const isFirst = one.change === 'first';
    count += isFirst ? 0 : 1;
    const head = `${formatTime(one.run)} ${isFirst ? colors.cyan(one.change) : colors.yellow(one.change)}`;
    const own = lines.get(head) ?? [];
    own.push(uid === undefined ? one.cluster : commandOf(one, options));
    // The line of the newest change comes last.
    lines.delete(head);
    lines.set(head, own);
  }
  for (const change of [...reader.lists.all].reverse().slice(0, limit))
    await print(out, `${formatTime(change.run)} ${printable(changeText({ ...change, leaving: change.began }))}\n`);
  for (const [head, own] of [...lines].reverse().slice(0, limit)) {
    const named = atMost(mostNamed, own, (more) => `and ${more} more; --json has all`).join(', ');
    await print(
      out,
      `${head}${printable(uid === undefined ? `: ${formatCount(own.length, 'cluster')}: ${named}` : named)}\n`,
    );
  }
  if (reader.runs === 0) return;
  const stopped = lines.size > limit ? ` The list stopped after ${limit} of ${lines.size}; --limit sets how many.` : '';
  const absent = reader.absentText === undefined ? '' : ` Absent: ${reader.absentText}.`;
  await print(err, `${formatCount(count, 'change')} in the ${resource}s of ${reader.span}.${stopped}${absent}\n`);
}

/** ` (15.5 KiB): npm run collector -- diff my-cluster --run 2026-11-20T10:00:00Z` */
function commandOf({ cluster, run, change, bytes, missing }: Change, { resource, archive }: Options): string {
  const which = `${shellQuoted(cluster)}${resource === usualResource ? '' : ` --resource ${resource}`}`;
  const command = `${change === 'first' ? 'show' : 'diff'} ${which} --run ${formatTime(run)}${archiveArgument(archive)}`;
  return ` (${missing ? 'missing' : formatBytes(bytes)}): npm run collector -- ${command}`;
}

/** The changes, and then who joined and who left a list of clusters. */
async function* withMembers({ lists }: RunReader, found: AsyncIterable<Change>) {
  for await (const { keyBefore, ...change } of found) yield change;
  for (const { run, joined, returned, began, left } of lists.all) {
    for (const cluster of joined) yield { cluster, run, change: 'joined' };
    for (const cluster of returned) yield { cluster, run, change: 'back' };
    for (const cluster of began) yield { cluster, run, change: 'leaving' };
    for (const cluster of left) yield { cluster, run, change: 'left' };
  }
}

const helpText = `
A change is between two runs that archived the cluster; other runs are passed over. history reads the run records, and looks whether what they name is there.

With --all, all clusters that changed in one run are one line. --ignore reads both contents of each change, and leaves out those that
differ only in lines that match.

Exit codes: 0 done, 1 something is missing, or a run record is damaged, 2 wrong command line, 3 it could not be done, or a run record could not
be read.

Examples:
  npm run collector -- history my-cluster
  npm run collector -- history my-cluster --from "90 days ago"
  npm run collector -- history --all --from "7 days ago" --ignore "resourceVersion:|managedFields:"
  npm run collector -- history --all "prod-*" --from 2026-11-20T09:00 --to 2026-11-20T12:00
`;
