import { Command } from 'commander';
import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch } from 'diff';
import { problems } from '../../archive/format/problems';
import { type Resource, resources } from '../../archive/format/resources';
import { archiveArgument, type OpenedArchive, openArchiveNow } from '../archive/open-archive';
import { type ReadText, readText } from '../archive/read-text';
import type { RecordedObject } from '../archive/recorded-object';
import { RunReader } from '../archive/run-reader';
import {
  describeSelection,
  newestObject,
  noteNewerRuns,
  noteUnread,
  nothingArchived,
  remarksOn,
  type SelectedObject,
  selectObject,
} from '../archive/select-object';
import type { RunSelection } from '../archive/select-runs';
import type { LinePattern } from '../search/line-pattern';
import { isNoiseLine, isSameButNoise, newNoiseLines } from '../search/noise';
import { formatCount, formatTime, shellQuoted } from '../terminal/format';
import { printable, printableLines } from '../terminal/printable';
import { type CommandContext, print, printJson, type Terminal } from '../terminal/terminal';
import {
  ignoreOption,
  type ReadOptions,
  resourceOption,
  runOption,
  withArchive,
  withHelp,
  withPeriod,
} from './options';
import { printRemarks } from './print-findings';

/** Most changed lines: the time and memory for the shortest difference grow with the square of their number. */
const mostChanged = 1000;

interface Options extends ReadOptions, Omit<RunSelection, 'last'> {
  readonly resource: Resource;
  readonly escape: boolean;
  readonly ignore?: LinePattern;
}

export function diffCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('diff')
    .summary('what changed between two runs')
    .description('Shows what changed between two runs as a unified diff; without times, between the two newest.')
    .argument('<cluster>', "the cluster's uid")
    .addOption(resourceOption('what to compare', 'manifest'));
  withPeriod(command.addOption(runOption(['from', 'to'])), terminal, [
    'compare from the newest run at or before this time',
    'compare to the newest run at or before this time',
  ])
    .option('--no-escape', 'leave control characters of the content as they are, for patch')
    .addOption(ignoreOption());
  withHelp(withArchive(command, 'one object; docs/reading-the-archive.md has its members'), terminal, helpText);
  return command.action(async (cluster: string, options: Options) => {
    const { resource } = options;
    const reader = new RunReader(await openArchiveNow(options.archive, terminal));
    const [before, after] = await selectSides(reader, cluster, options);
    const [from, to] = [before, after].map((side) => printable(describeSelection(side)));
    if (options.json !== true) await print(terminal.err, `from: ${from}\nto:   ${to}\n`);
    if (options.from === undefined) await noteUnread(terminal, before);
    else await noteNewerRuns(terminal, reader, before, options.from);
    if (options.run === undefined) await noteNewerRuns(terminal, reader, after, options.to);
    const gone = [before, after].filter(({ storedBytes }) => storedBytes === undefined);
    const ending = await printRemarks(terminal, [before, after].flatMap(remarksOn), 'trouble');
    if (gone.length > 0) {
      if (options.json === true) await printJson(terminal.out, { cluster, resource, ...goneDocument(before, after) });
      return end('trouble');
    }
    const read = async (side: RecordedObject) => ({ ...side, ...(await readText(reader.archive, side.key, resource)) });
    const sides = [await read(before), await read(after)] as const;
    const difference = differenceOf(sides, options.ignore);
    if (options.json === true) await printJson(terminal.out, { cluster, resource, ...documentOf(sides, difference) });
    else await printDifference(terminal, sides, difference, options);
    end(ending === 'ok' && difference.isChanged ? 'found' : ending);
  });
}

async function selectSides(
  opened: OpenedArchive,
  cluster: string,
  { resource, run, from, to }: Options,
): Promise<readonly [SelectedObject, SelectedObject]> {
  const after = await selectObject(opened, resource, cluster, { run, at: to });
  if (from === undefined) return [await objectBefore(opened, after), after];
  const before = await selectObject(opened, resource, cluster, { at: from });
  if (before.key !== after.key) return [before, after];
  const only = `only the run ${formatTime(after.run)} archived it in this period`;
  throw nothingArchived(resource, cluster, `${only}, so there is nothing to compare it with`);
}

/** The object of the run before. @throws ArchiveReadError if that is the first one */
async function objectBefore(
  opened: OpenedArchive,
  { resource, cluster, run, key }: RecordedObject,
): Promise<SelectedObject> {
  const { archive } = opened;
  const { object } = await newestObject(opened, resource, cluster, { to: new Date(run.getTime() - 1) });
  if (object !== undefined) return object;
  const isOnly = (await selectObject(opened, resource, cluster, {})).key === key;
  const next = archive.location.startsWith('s3://') ? 'the next run' : 'another npm start';
  const why = isOnly
    ? `only one run archived it, so there is nothing to compare yet: ${next} makes a second`
    : `the run ${formatTime(run)} is the first that archived it, so there is nothing before it to compare it with`;
  throw nothingArchived(resource, cluster, why);
}

/** What is compared: the content of an object, which was read and is what its metadata says. */
type Side = RecordedObject & ReadText;

/** The older content, and the newer. */
type Sides = readonly [Side, Side];

interface Difference {
  /** Whether the texts differ, or two manifests in bytes that are not UTF-8. */
  readonly isChanged: boolean;
  /** Whether all that was archived is the same. */
  readonly isSame: boolean;
  /** Whether they differ only in lines that are left out. */
  readonly isOnlyNoise: boolean;
  /** How many lines that are left out the newer one has and the older has not. */
  readonly ignored: number;
  /** Undefined: they are too different. */
  readonly patch: StructuredPatch | undefined;
}

/** Content need not be UTF-8: two that read the same may still differ. */
function differenceOf([before, after]: Sides, ignore?: LinePattern): Difference {
  const isSame = before.facts.sha256 === after.facts.sha256;
  const nameOf = ({ cluster, resource }: Side) => `${cluster}/${resource}`;
  const [from, to] = [formatTime(before.run), formatTime(after.run)];
  // Three lines around a change, as in diff.
  const isNoise = (line: string) => ignore !== undefined && isNoiseLine(line, ignore);
  const isSameLine = (one: string, other: string) => one === other || (isNoise(one) && isNoise(other));
  const options = { context: 3, maxEditLength: mostChanged, comparator: isSameLine };
  const isSameText = before.text === after.text;
  const isOnlyNoise = !isSameText && ignore !== undefined && isSameButNoise(before.text, after.text, ignore);
  const ignored = isSameText || ignore === undefined ? 0 : newNoiseLines(before.text, after.text, ignore);
  // To compare equal texts line by line takes ten times their memory. Where a line that matches has moved past others, the
  // shortest difference may move those.
  const texts = isSameText || isOnlyNoise ? (['', ''] as const) : ([before.text, after.text] as const);
  const patch = structuredPatch(nameOf(before), nameOf(after), ...texts, from, to, options);
  if (patch !== undefined) {
    const shown = patch.hunks.filter(({ lines }) =>
      lines.some((line) => /^[+-]/.test(line) && !isNoise(line.slice(1))),
    );
    patch.hunks = shown;
  }
  const isOfText = patch === undefined || patch.hunks.length > 0;
  const isOfBytes = !isSame && !isOnlyNoise && !resources[after.resource].holdsLog;
  return { isSame, isOnlyNoise, ignored, isChanged: isOfText || isOfBytes, patch };
}

/** For `--json`. */
function documentOf([before, after]: Sides, { isChanged, ignored, patch }: Difference): object {
  const [from, to] = [before, after].map(({ run, key, facts, remark }) => {
    const { fetchedAt, sha256, length: bytes } = facts;
    return { run, fetchedAt, key, sha256, bytes, remark: remark?.problem ?? null };
  });
  return { changed: isChanged, from, to, ignored, hunks: patch?.hunks ?? null };
}

/** For `--json`, where one of the two is not there, so that nothing was compared. */
function goneDocument(...both: readonly RecordedObject[]): object {
  const [from, to] = both.map(({ run, key, facts, remark }) => ({
    ...{ run, fetchedAt: facts?.fetchedAt ?? null, key },
    ...{ sha256: facts?.sha256 ?? null, bytes: facts?.length ?? null, remark: remark?.problem ?? null },
  }));
  return { changed: null, from, to, hunks: null };
}

async function printDifference(
  terminal: Terminal,
  sides: Sides,
  { isSame, isOnlyNoise, isChanged, ignored, patch }: Difference,
  { escape: isEscaped, archive }: Options,
): Promise<void> {
  const { err } = terminal;
  if (patch === undefined) {
    const [lines, others] = sides.map(({ text }) => text.split('\n').length - 1);
    const commands = sides.map(({ cluster, resource, run }, at) => {
      const which = `${shellQuoted(cluster)} --resource ${resource} --run ${formatTime(run)}${archiveArgument(archive)}`;
      return `  npm run --silent collector -- show ${which} > ${at === 0 ? 'before' : 'after'}.txt\n`;
    });
    const what = `They are too different to be shown line by line: ${lines} lines and ${others} lines`;
    await print(err, `${what}. To compare them by hand:\n${commands.join('')}  diff before.txt after.txt\n`);
  } else await printPatch(terminal, patch, isEscaped);
  if (isSame) await print(err, 'No difference.\n');
  else if (isOnlyNoise) await print(err, 'No difference but in lines that --ignore matches.\n');
  else if (!isChanged)
    await print(err, 'The text of the log is the same; the rest of its record differs (show --raw shows it).\n');
  else if (ignored > 0) await print(err, `${formatCount(ignored, 'line')} that --ignore matches left out.\n`);
  else if (patch?.hunks.length === 0) await print(err, 'The manifests differ only in bytes that are not UTF-8.\n');
}

async function printPatch({ out, colors }: Terminal, patch: StructuredPatch, isEscaped: boolean): Promise<void> {
  if (patch.hunks.length === 0) return;
  const colorOf: Partial<Record<string, (line: string) => string>> = {
    '+': colors.green,
    '-': colors.red,
    '@': colors.cyan,
  };
  const lines = formatPatch(patch, FILE_HEADERS_ONLY)
    .split('\n')
    .map((line, at) => {
      // The first two name the sides.
      const color = at < 2 ? colors.bold : colorOf[line.charAt(0)];
      const shown = isEscaped || at < 2 ? printableLines(line) : line;
      return color?.(shown) ?? shown;
    });
  await print(out, lines.join('\n'));
}

const helpText = `
A cluster is compared between two runs that archived it. Standard error says which two these are, and whether they
were fetched late. --run compares that run with the one before it. --from and --to compare the state when the period began
with the state when it ended; --to alone, the newest run at or before it with the one before. "history --all --from TIME --to TIME" says which clusters changed.

With --ignore, lines that match count as equal, and texts that differ only in them as the same. diff reads both contents and compares them with their hashes and their run records. Above 1,000 changed lines it prints
the commands to compare them by hand.

Exit codes: 0 no difference, 1 a difference, 2 wrong command line, 3 it could not be compared, one of the two is
missing or damaged, or ${problems.unrecorded}.

Examples:
  npm run collector -- diff my-cluster
  npm run collector -- diff my-cluster --resource log --from yesterday --to yesterday
  npm run collector -- diff my-cluster --run 2026-11-20T10:00:00Z
`;
