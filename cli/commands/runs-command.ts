import { Argument, Command } from 'commander';
import { runPrefix } from '../../lambda/archive/archive-layout';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type Run, readRun } from '../../lambda/verify/read-run';
import { type ListedRun, newestRuns, runsBetween } from '../../lambda/verify/run-keys';
import { openArchive } from '../archive/open-archive';
import { formatBytes, formatCount, formatDuration, formatTime } from '../terminal/format';
import { formatDoubts, printRun, summarizeRun } from '../terminal/print-run';
import { printable } from '../terminal/printable';
import { printTable } from '../terminal/table';
import { type CommandContext, exitCodes, print, printJsonArray, type Terminal } from '../terminal/terminal';
import {
  type ArchiveOption,
  checkPeriod,
  type JsonOption,
  type PeriodOptions,
  parseCount,
  withArchive,
  withJson,
  withPeriod,
} from './archive-options';
import { parseTime } from './time-argument';

interface Options extends ArchiveOption, JsonOption, PeriodOptions {
  readonly limit: number;
}

/** There is no run of the time that was asked for. */
export class NoSuchRunError extends Error {
  override readonly name = 'NoSuchRunError';
}

/** `runs`: the last runs, or one run's outcomes. */
export function runsCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('runs')
    .description('Lists the last runs, oldest first; given the time of one, lists its outcomes, failures first.')
    .addArgument(
      new Argument('[time]', 'the time of one run, as the list and the keys show it').argParser((text) =>
        parseTime(text, 'start'),
      ),
    )
    .option('--limit <count>', 'how many runs to list, counted from the newest', parseCount, 20)
    .addHelpText('after', helpText);
  withJson(withArchive(withPeriod(command, 'runs')));
  return command.action(async (time: Date | undefined, options: Options) => {
    checkPeriod(command, options);
    const reader = await openArchive(options.archive);
    const isSound =
      time === undefined
        ? await printRuns(terminal, reader, options)
        : await printRun(terminal, await readRun(reader, await findRun(reader, time)), options.json === true);
    if (!isSound) end(exitCodes.found);
  });
}

/** @returns whether all records could be read */
async function printRuns(terminal: Terminal, reader: ArchiveReader, options: Options): Promise<boolean> {
  const listed = await newestRuns(reader, options, options.limit, terminal.now());
  let bad: string[] = [];
  // One run after the other: the records of a large fleet are large.
  async function* runs(): AsyncGenerator<Run> {
    for (const run of listed) {
      const read = await readRun(reader, run);
      bad = [...bad, ...read.badRecords.map(({ key, problem }) => `${key}: ${problem}`)];
      yield { ...read, outcomes: [] };
    }
  }
  if (options.json === true) {
    await printJsonArray(terminal.out, summaries(runs()));
    return bad.length === 0;
  }
  const count = await printTable(terminal, columnsOf(terminal), runs());
  if (count === 0) await print(terminal.err, `No runs in ${printable(reader.location)} in this period.\n`);
  for (const problem of bad)
    await print(terminal.err, `${terminal.errColors.red('bad run record')} ${printable(problem)}\n`);
  return bad.length === 0;
}

async function* summaries(runs: AsyncIterable<Run>) {
  for await (const run of runs) yield summarizeRun(run);
}

function columnsOf({ colors }: Terminal) {
  const alarming = (text: string) => (text === '0' ? text : colors.red(text));
  return [
    { head: 'Run', cell: (run: Run) => formatTime(run.run) },
    { head: 'Attempts', cell: (run: Run) => attemptsOf(run), align: 'right' as const },
    { head: 'Archived', cell: (run: Run) => `${run.counts.archived}/${totalOf(run)}`, align: 'right' as const },
    { head: 'Failed', cell: (run: Run) => `${run.counts.failed}`, align: 'right' as const, color: alarming },
    {
      head: 'Not attempted',
      cell: (run: Run) => `${run.counts.notAttempted}`,
      align: 'right' as const,
      color: alarming,
    },
    { head: 'Content', cell: (run: Run) => formatBytes(run.bytes), align: 'right' as const },
    { head: 'Stored', cell: (run: Run) => formatBytes(run.storedBytes), align: 'right' as const },
    { head: 'Duration', cell: (run: Run) => formatDuration(run.durationMs), align: 'right' as const },
    {
      head: 'Status',
      cell: (run: Run) =>
        `${run.status}${formatDoubts(run.counts.doubts)}${run.badRecords.length === 0 ? '' : ', bad record'}`,
      color: (text: string, run: Run) =>
        run.status === 'complete' && run.badRecords.length === 0 ? colors.green(text) : colors.red(text),
    },
  ];
}

function totalOf({ counts }: Run): number {
  return counts.archived + counts.failed + counts.notAttempted;
}

function attemptsOf({ attempts, shards }: Run): string {
  return shards === 1 ? `${attempts}` : `${attempts} x ${formatCount(shards, 'shard')}`;
}

/** @throws NoSuchRunError that names the runs nearby */
async function findRun(reader: ArchiveReader, time: Date): Promise<ListedRun> {
  for await (const run of runsBetween(reader, { from: time, to: time })) return run;
  const before = (await newestRuns(reader, { to: time }, 1, time))[0]?.run;
  let after: Date | undefined;
  for await (const { run } of runsBetween(reader, { from: time })) {
    after = run;
    break;
  }
  const nearby = [before, after].filter((run) => run !== undefined).map(formatTime);
  throw new NoSuchRunError(
    `Finding the run ${formatTime(time)} failed: there is no record ${runPrefix(time)}*; ` +
      (nearby.length === 0 ? 'the archive has no runs' : `the nearest: ${nearby.join(', ')}`),
  );
}

const helpText = `
With --json: an array, an element per run; with a time, one object that has the outcomes too.
Exit codes: 0 done, 1 a run record is damaged, 2 wrong command line, 3 it could not be done.

Examples:
  npm run collector -- runs --limit 5
  npm run collector -- runs 2026-11-20T10:00
  npm run --silent collector -- runs --from 2026-11-01 --json | jq '.[] | select(.status != "complete")'
`.trimEnd();
