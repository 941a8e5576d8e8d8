import { Command, Option } from 'commander';
import { type ArchiveReader, DamagedObjectError } from '../../lambda/verify/archive-reader';
import { type Content, type DescribedObject, isSameContent, summarizeContent } from '../archive/cluster-objects';
import { openArchive } from '../archive/open-archive';
import { readText } from '../archive/read-text';
import { describeSelection, noteNewerRun, nothingArchived, selectObject } from '../archive/select-object';
import { formatTime } from '../terminal/format';
import { printable, printableLines } from '../terminal/printable';
import { type CommandContext, type Ending, print, printJson, type Terminal } from '../terminal/terminal';
import { type CheckOptions, VouchedNotes, withCheck } from './check-option';
import { type DiffOptions, diffRuns } from './diff-runs';
import { type ReadOptions, resourceOption, withArchive, withHelp, withOneRun, withPeriod } from './options';
import { type Hunk, unifiedHunks } from './unified-hunks';

interface Options extends ReadOptions, CheckOptions, DiffOptions {
  readonly all?: boolean;
  readonly escape: boolean;
}

export function diffCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('diff')
    .summary('what changed between two runs')
    .description('Shows what changed between two runs as a unified diff; without times, between the two newest.')
    .argument('[cluster]', "the cluster's uid")
    .addOption(resourceOption('what to compare', 'manifest'))
    .addOption(new Option('--all', 'list the clusters that changed between the two runs').conflicts('check'));
  withPeriod(withOneRun(command, terminal, ['from', 'to']), terminal, [
    'compare from the newest run at or before this time',
    'compare to the newest run at or before this time',
  ]).option('--no-escape', 'leave control characters of the content as they are, for patch');
  withHelp(withArchive(withCheck(command)), terminal, helpText);
  return command.action(async (cluster: string | undefined, options: Options) => {
    if (cluster !== undefined && options.all === true)
      command.error(`error: both a cluster (${cluster}) and --all; expected one of them`);
    const reader = await openArchive(options.archive);
    if (options.all === true) return end(await diffRuns(terminal, reader, options));
    if (cluster === undefined) return command.error("error: nothing to compare; expected a cluster's uid, or --all");
    end(await diffCluster(terminal, reader, cluster, options));
  });
}

async function diffCluster(
  terminal: Terminal,
  reader: ArchiveReader,
  cluster: string,
  options: Options,
): Promise<Ending> {
  const notes = new VouchedNotes(reader, options);
  const { resource } = options;
  const sides = await selectSides(reader, cluster, options, terminal.now());
  const [before, after] = sides;
  const [vouchedBefore, vouchedAfter] = [await notes.ofObject(before), await notes.ofObject(after)];
  if (options.json !== true) await printSides(terminal, reader, sides, options);
  const areSame = before.facts.sha256 === after.facts.sha256;
  const hunks = isSameContent(before.facts, after.facts)
    ? []
    : unifiedHunks(await readText(reader, before.key, resource), await readText(reader, after.key, resource));
  // Content need not be UTF-8: two that read the same may still differ.
  const differsElsewhere = !areSame && hunks.length === 0;
  const isChanged = hunks.length > 0 || (differsElsewhere && resource === 'manifest');
  if (options.json === true) {
    const from = { ...summarizeContent(before), vouched: vouchedBefore };
    const to = { ...summarizeContent(after), vouched: vouchedAfter };
    await printJson(terminal.out, { cluster, resource, changed: isChanged, from, to, hunks });
  } else {
    await printHunks(terminal, sides, hunks, options.escape);
    if (areSame) await print(terminal.err, 'No difference.\n');
    if (differsElsewhere)
      await print(
        terminal.err,
        resource === 'log'
          ? 'The text of the log is the same; the rest of its record differs (show --raw shows it).\n'
          : 'The manifests differ only in bytes that are not UTF-8.\n',
      );
  }
  if (!(await notes.print(terminal))) return 'trouble';
  return isChanged ? 'found' : 'ok';
}

/** What is compared: the older content, and the newer. */
type Sides = readonly [Content, Content];

async function selectSides(
  reader: ArchiveReader,
  cluster: string,
  { resource, run, at, from, to }: Options,
  now: Date,
): Promise<Sides> {
  const after = await selectObject(reader, resource, cluster, { run, at: at ?? to }, now);
  const justBefore = new Date(after.run.getTime() - 1);
  const before = await selectObject(reader, resource, cluster, { at: from ?? justBefore }, now);
  if (before.key === after.key)
    throw nothingArchived(resource, cluster, `the period has only one to compare, of the run ${formatTime(after.run)}`);
  return [asSide(before), asSide(after)];
}

function asSide(object: DescribedObject): Content {
  const { facts } = object;
  if (facts === undefined)
    throw new DamagedObjectError(`Comparing ${object.key} failed: its metadata is absent or malformed`);
  return { ...object, facts };
}

/** Says which objects are compared, and whether a newer run has none. */
async function printSides(
  terminal: Terminal,
  reader: ArchiveReader,
  [before, after]: Sides,
  { run, at, to }: Options,
): Promise<void> {
  const [from, until] = [before, after].map((side) => printable(describeSelection(side)));
  await print(terminal.err, `from: ${from}\nto:   ${until}\n`);
  if (run === undefined) await noteNewerRun(terminal, reader, after, at ?? to);
}

async function printHunks(
  { out, colors }: Terminal,
  [before, after]: Sides,
  hunks: readonly Hunk[],
  isEscaped: boolean,
): Promise<void> {
  if (hunks.length === 0) return;
  const heading = (mark: string, { cluster, resource, run }: Content) =>
    colors.bold(`${mark} ${printable(`${cluster}/${resource}`)}\t${formatTime(run)}`);
  await print(out, `${heading('---', before)}\n${heading('+++', after)}\n`);
  const shown = (line: string) => (isEscaped ? printableLines(line) : line);
  const colored = (line: string) =>
    line.startsWith('+') ? colors.green(shown(line)) : line.startsWith('-') ? colors.red(shown(line)) : shown(line);
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    // An empty side begins, by convention, at the line before it.
    const at = (start: number, count: number) => `${count === 0 ? start - 1 : start}${count === 1 ? '' : `,${count}`}`;
    await print(out, `${colors.cyan(`@@ -${at(oldStart, oldLines)} +${at(newStart, newLines)} @@`)}\n`);
    await print(out, `${lines.map(colored).join('\n')}\n`);
  }
}

const helpText = `
A cluster is compared between two runs that archived it. Standard error says which two these are, and whether they
were fetched late. --run and --at compare that run with the one before it. --from and --to compare the state when
the period began with the state when it ended. --all compares what two runs archived of every cluster; what changed in
between, and was changed back, is said by history --all.

--check: standard error says which seal vouches for both sides.

With --json: one object; its members are in docs/reading-the-archive.md.

Exit codes: 0 no difference, 1 a difference, 2 wrong command line, 3 it could not be compared, or with
--check no seal vouches for both.

Examples:
  npm run collector -- diff my-cluster
  npm run collector -- diff my-cluster --resource log --from yesterday --to yesterday
  npm run collector -- diff --all --run 2026-11-20T10:00:00Z
`;
