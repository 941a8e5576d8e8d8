import { type Command, Help, InvalidArgumentError, Option } from 'commander';
import { type Resource, resourceNames } from '../../archive/format/resources';
import { loadConfig } from '../../infra/config/config';
import { clusterFilter } from '../archive/cluster-names';
import { defaultArchive, openArchiveNow } from '../archive/open-archive';
import { RunReader } from '../archive/run-reader';
import type { RunSelection } from '../archive/select-runs';
import { linePattern } from '../search/line-pattern';
import type { StackName } from '../stack/aws-access';
import { formatCount } from '../terminal/format';
import { printableLines } from '../terminal/printable';
import { type CommandContext, type Ending, print, type Terminal } from '../terminal/terminal';
import { printRemarks } from './print-findings';
import { type Edge, parseRunTime, parseTime } from './time-argument';
import { usageError } from './usage-errors';

/** Lets a command line print to the terminal, and throw rather than end the process. @param typed how it is called */
export function printsTo(terminal: Terminal, command: Command, typed: string): Command {
  return command
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      // It quotes what was typed.
      writeErr: (text) => terminal.err.write(printableLines(usageError(text))),
    })
    .configureHelp({ helpWidth: helpWidth(terminal) })
    .showHelpAfterError(`(${typed} --help shows what is accepted)`);
}

function helpWidth({ columns = 100 }: Pick<Terminal, 'columns'>): number {
  return Math.min(columns, 120);
}

/**
 * Adds a text behind a command's help.
 * @param text paragraphs between empty lines; those with indented lines stay as they are, the others are wrapped
 */
export function withHelp(command: Command, terminal: Pick<Terminal, 'columns'>, text: string): Command {
  const wrap = (paragraph: string) =>
    /^ /m.test(paragraph) ? paragraph : new Help().boxWrap(paragraph.replaceAll('\n', ' '), helpWidth(terminal));
  return command.addHelpText('after', `\n${text.trim().split('\n\n').map(wrap).join('\n\n')}`);
}

export interface ReadOptions {
  readonly archive: string;
  readonly json?: boolean;
}

export interface RunOptions extends ReadOptions, RunSelection {}

/** @param json what the command prints for programs */
export function withArchive(command: Command, json: string): Command {
  return command
    .option('--archive <location>', 'the archive: a folder or s3://bucket', defaultArchive)
    .option('--json', `print JSON for programs: ${json}`);
}

/** Adds --from and --to, and refuses a period that ends before it begins. */
export function withPeriod(
  command: Command,
  { now }: Pick<Terminal, 'now'>,
  [from, to] = ['only runs at or after this time', 'only runs at or before this time'],
): Command {
  return command
    .addOption(timeOption('--since, --from <time>', from, 'start', now))
    .addOption(timeOption('--to <time>', to, 'end', now))
    .hook('preAction', () => checkPeriod(command, ['from', 'to']));
}

/** The option for one run, which a command takes instead of others. */
export function runOption(others: string[]): Option {
  return new Option('--run <time>', 'the run of exactly this time').argParser(parseRunTime).conflicts(others);
}

/**
 * Adds the options of a command that reads some runs of an archive.
 * @param last what `--last` is without --from, or in words what is selected then
 * @param json what the command prints for programs
 */
export function withRuns(
  command: Command,
  terminal: Pick<Terminal, 'now'>,
  last: number | string,
  json: string,
): Command {
  withPeriod(command.addOption(runOption(['from', 'to', 'last'])), terminal);
  const fallback = typeof last === 'string' ? last : `${last}, with --from all`;
  return withArchive(withLast(command, 'runs', fallback), json);
}

/** @param fallback what is taken without it, in words */
export function withLast(command: Command, what: string, fallback: string): Command {
  return command.option('--last <count>', `only so many ${what}, the newest (default: ${fallback})`, parseCount);
}

/** The runs that the options select. @param most how many of the newest runs, if neither --last nor --from is given */
export function selectionOf({ run, from, to, last }: RunSelection, most: number): RunSelection {
  return { run, from, to, last: last ?? (from === undefined ? most : undefined) };
}

/** Whether the options select runs at all. */
export function isSelection({ run, from, to, last }: RunSelection): boolean {
  return [run, from, to, last].some((one) => one !== undefined);
}

/** What does not count as a change. */
export function ignoreOption(): Option {
  const what = 'leave out changes that are only in lines that match this regular expression (RE2 syntax)';
  return new Option('--ignore <regex>', what).argParser((text) => linePattern(text, {}));
}

/** Adds --lines-from and --lines-to. */
export function withLineTimes(command: Command, { now }: Pick<Terminal, 'now'>): Command {
  const only = (edge: string) => `only lines that begin with a time ${edge} this one`;
  return command
    .addOption(timeOption('--lines-from <time>', only('at or after'), 'start', now).conflicts(['seams', 'json']))
    .addOption(timeOption('--lines-to <time>', only('at or before'), 'end', now).conflicts(['seams', 'json']))
    .hook('preAction', () => checkPeriod(command, ['linesFrom', 'linesTo']));
}

export function timeOption(flags: string, description: string | undefined, edge: Edge, now: () => Date): Option {
  return new Option(flags, description).argParser((text) => parseTime(text, edge, now()));
}

export function withClusters(command: Command): Command {
  return command.option('--cluster <glob>', 'only these clusters: a uid, or a pattern with * and ?', clusterFilter);
}

export function resourceOption(description: string, fallback?: Resource): Option {
  return new Option('--resource <resource>', description).choices(resourceNames).default(fallback);
}

/**
 * Reads runs, then prints what is wrong with what was read, and ends with the exit code that says so.
 * @param damaged how the command ends with damage
 */
export async function readRuns(
  { terminal, end }: CommandContext,
  { archive }: Pick<ReadOptions, 'archive'>,
  read: (reader: RunReader) => Promise<void>,
  damaged?: Ending,
): Promise<void> {
  const reader = new RunReader(await openArchiveNow(archive, terminal));
  try {
    await read(reader);
  } finally {
    const { notLookedAt } = reader.held;
    if (notLookedAt > 0) {
      const which = formatCount(notLookedAt, 'object');
      await print(terminal.err, `As recorded: ${which}, not looked at whether they are there; verify does.\n`);
    }
    end(await printRemarks(terminal, reader.remarks, damaged));
  }
}

/** What is said where outcomes are counted and not held against what lies there. */
export const asRecorded = 'As recorded: whether the objects are there was not looked at; list and verify do.\n';

/** Takes a whole number. @param most left out: any number of up to nine digits */
export function parseWhole(least: number, most?: number): (text: string) => number {
  const expected = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= (most ?? number)) return number;
    throw new InvalidArgumentError(`expected a whole number ${expected}.`);
  };
}

export const parseCount = parseWhole(1);

/** Adds the options that say what a run collects, to the commands that start one. */
export function withRunMembers(command: Command): Command {
  return command
    .option('--run <time>', 'complete the run of this time: what is missing of it', parseRunTime)
    .option('--without-record', 'with --run: it left no run record; collect everything under its time')
    .option('--clusters <uids>', 'only these clusters, separated by commas', parseList)
    .option('--dry-run', 'fetch and check everything, write nothing');
}

export interface StackOptions {
  readonly stack?: string;
  readonly config: string;
  readonly region?: string;
  readonly json?: boolean;
}

export function withStack(command: Command): Command {
  return command
    .option('--json', 'print JSON for programs instead of text for people')
    .addOption(
      new Option('--stack <name>', 'the deployed stack; STACK/CONSTRUCT if it has several collectors').conflicts(
        'config',
      ),
    )
    .option('--config <file>', 'the configuration that names the stack', 'collector.json')
    .option('--region <region>', 'the region of the stack (default: of the configuration, or of the profile)');
}

/** @throws ConfigError if the stack is named by a configuration that cannot be used */
export function stackNameOf({ stack, config, region }: StackOptions): StackName {
  if (stack !== undefined) return { name: stack, region };
  const { name, deployTo } = loadConfig(config);
  return { name, region: region ?? deployTo?.region };
}

/** Uids between commas, each once. */
function parseList(text: string): string[] {
  const uids = text.split(',').filter((uid) => uid !== '');
  if (uids.length === 0) throw new InvalidArgumentError('expected at least one uid.');
  return [...new Set(uids)];
}

function checkPeriod(command: Command, names: readonly ['from', 'to'] | readonly ['linesFrom', 'linesTo']): void {
  const [from, to] = names.map((name) => command.opts<Readonly<Record<string, Date | undefined>>>()[name]);
  if (from === undefined || to === undefined || from <= to) return;
  const [first, last] = names[0] === 'from' ? ['--from', '--to'] : ['--lines-from', '--lines-to'];
  command.error(
    `error: ${first} ${from.toISOString()} is later than ${last} ${to.toISOString()}; expected the earlier time in ${first}`,
  );
}
