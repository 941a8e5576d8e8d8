import { Readable } from 'node:stream';
import { Command } from 'commander';
import { type Resource, resources } from '../../archive/format/resources';
import { mapConcurrently } from '../../archive/read';
import type { ClusterFilter } from '../archive/cluster-names';
import type { RunReader } from '../archive/run-reader';
import { nothingInRuns } from '../archive/select-object';
import type { RunSelection } from '../archive/select-runs';
import { type LinePattern, linePattern, type PatternOptions } from '../search/line-pattern';
import { longestLine } from '../search/line-search';
import { ObjectsToSearch } from '../search/objects-to-search';
import { type ObjectSearch, remarkOn, type SearchedObject, searchObject } from '../search/search-object';
import { SearchPrinter, type SearchPrinterOptions } from '../search/search-printer';
import { formatBytes, formatCount } from '../terminal/format';
import { Progress } from '../terminal/progress';
import { type CommandContext, print } from '../terminal/terminal';
import {
  parseWhole,
  type RunOptions,
  readRuns,
  resourceOption,
  selectionOf,
  withClusters,
  withHelp,
  withRuns,
} from './options';

interface Options extends RunOptions, SearchPrinterOptions, PatternOptions {
  readonly resource: Resource;
  readonly cluster?: ClusterFilter;
  readonly snapshots?: boolean;
}

/** Objects that are read at once. */
const concurrency = 16;

/** Objects between two words on how far the search is. */
const shownEvery = 50;

/** `grep`: the lines of logs or manifests that match a pattern. */
export function grepCommand(context: CommandContext): Command {
  const { terminal } = context;
  const command = new Command('grep')
    .summary('lines of logs or manifests')
    .description('Prints the lines of logs, or of manifests, that match a pattern, each with its cluster and run.')
    .addOption(resourceOption('what to search', 'log'));
  withRuns(withClusters(command), terminal, 1, 'an array, an element per line, or with -c per log')
    .argument('<pattern>', 'a regular expression (RE2 syntax)', (text) => linePattern(text, command.opts()))
    .option('-i, --ignore-case', 'upper and lower case are the same')
    .option('-F, --fixed-strings', 'the pattern is a text, not a regular expression')
    .option('-C, --context <lines>', 'print so many lines before and after', parseWhole(0, 1000), 0)
    .option('--snapshots', 'search each log whole: a line stands under every run that has it')
    .option('-c, --count', 'print how many lines match, for each log that has any')
    .option('--no-escape', 'leave control characters as they are');
  withHelp(command, terminal, helpText);
  return command.action((pattern: LinePattern, options: Options) =>
    readRuns(context, options, (reader) => search(context, reader, pattern, options), 'trouble'),
  );
}

async function search(
  { terminal, end }: CommandContext,
  reader: RunReader,
  pattern: LinePattern,
  options: Options,
): Promise<void> {
  const { resource, context, cluster: clusters } = options;
  const selection = selectionOf(options, 1);
  const objects = new ObjectsToSearch(reader, { resource, clusters, selection });
  const printer = new SearchPrinter(terminal, options);
  const running = new Set<ObjectSearch>();
  const progress = new Progress(terminal, 'Searching', { now: 'reading run records' });
  const start = async (object: SearchedObject) => {
    if (await objects.isSilent(object)) return undefined;
    const started = await searchObject(reader, object, { pattern, context, formatOf: printer.formatOf });
    running.add(started);
    return started;
  };
  try {
    const found = isJoined(options, selection) ? objects.listJoined(pattern) : objects.list();
    for await (const started of mapConcurrently(found, concurrency, start)) {
      if (objects.objects % shownEvery === 0)
        progress.update({ now: `${formatCount(objects.objects, resource)} of ${reader.span}` });
      if (started === undefined) continue;
      await printer.print(started);
      running.delete(started);
      const remark = remarkOn(started);
      if (remark !== undefined) reader.problems.push(remark);
      objects.note(started);
    }
  } finally {
    progress.stop();
    // After an error, open files and connections would keep the process alive.
    for (const { output } of running) if (output instanceof Readable) output.destroy();
  }
  await printer.end();
  if (objects.objects === 0) throw await nothingInRuns(reader, resource, clusters);
  await print(terminal.err, `${summary(objects, printer, reader, resource)}\n`);
  if (printer.matches === 0) end('noMatch');
}

/** One run alone is searched whole. */
function isJoined({ resource, snapshots }: Options, { run, last }: RunSelection): boolean {
  return resources[resource].holdsLog && snapshots !== true && run === undefined && last !== 1;
}

/** What was searched and found, so that nobody takes a part of the archive for all of it. */
function summary(objects: ObjectsToSearch, printer: SearchPrinter, reader: RunReader, resource: Resource): string {
  const { matches, objects: found, cutLines } = printer;
  const cut =
    cutLines === 0 ? '' : ` ${formatCount(cutLines, 'line')} over ${formatBytes(longestLine)} searched up to there.`;
  const absent = reader.absentText === undefined ? '' : ` Absent: ${reader.absentText}.`;
  const missing =
    objects.notArchived === 0 ? '' : `; ${formatCount(objects.notArchived, resource)} not archived, so not searched`;
  return (
    `${formatCount(matches, 'line')} in ${found} of ${formatCount(objects.objects, resource)}` +
    ` of ${reader.span}${missing}.${cut}${absent}`
  );
}

const helpText = `
Without a choice of runs, grep searches the newest. Over several runs, a line of a log is found once, under the first run that has it;
--snapshots finds it under every run. The time of a search grows with the text alone: the syntax has no look-around and no references
back (github.com/google/re2/wiki/Syntax).

Exit codes: 0 a line matches, 1 none does, 2 wrong command line, 3 something could not be searched, is damaged, or is
not what its run record says.

Examples:
  npm run collector -- grep OOMKilled
  npm run collector -- grep -i -C 2 "failed to pull" --cluster "prod-*" --last 24
  npm run collector -- grep --resource manifest "image: .*:latest" --from yesterday
`;
