import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { dayMs } from '../../archive/format/clocks';
import { resources } from '../../archive/format/resources';
import { isStored, type RunOutcome } from '../../archive/format/run-record';
import {
  type ArchiveReader,
  bytesOfRecords,
  clusterObjects,
  firstOf,
  type ListedRun,
  type Period,
} from '../../archive/read';
import { isAbsent } from '../archive/absent-runs';
import { clusterFilter } from '../archive/cluster-names';
import { CutCounts, cutLines } from '../archive/cut-lines';
import {
  type ArchivedLog,
  isMissing,
  type JoinedRun,
  joinLogs,
  linesAbove,
  type MissingLog,
} from '../archive/join-logs';
import { remarkOnRecorded } from '../archive/recorded-object';
import type { RunReader } from '../archive/run-reader';
import { nothingOf, whyMissing } from '../archive/select-object';
import { type RunSelection, runsNewestFirst } from '../archive/select-runs';
import { formatCount, formatTime } from '../terminal/format';
import { printable, printableContent } from '../terminal/printable';
import { printVolume } from '../terminal/progress';
import { type CommandContext, print, type Terminal } from '../terminal/terminal';
import { absentText } from './cluster-runs';
import { LogNotes } from './log-notes';
import { printSeams } from './log-seams';
import { LogTotals } from './log-totals';
import { isSelection, type RunOptions, readRuns, withHelp, withLineTimes, withRuns } from './options';

interface Options extends RunOptions {
  readonly linesFrom?: Date;
  readonly linesTo?: Date;
  readonly seams?: boolean;
  readonly all?: boolean;
  readonly strict?: boolean;
}

interface RecordedLog extends ArchivedLog {
  readonly outcome: RunOutcome;
}

const newline = 0x0a;

/** `log`: the logs of a cluster as one. */
export function logCommand(context: CommandContext): Command {
  const { terminal, end } = context;
  const command = new Command('log')
    .summary('the log of a cluster over many runs, each line once')
    .description('Joins the archived logs of a cluster: each line once, and a note wherever lines may be lost.')
    .argument('[cluster]', "the cluster's uid; with --seams a pattern with * and ?");
  withRuns(command, terminal, 'the last 24 hours', 'an array of what --seams says of all clusters')
    .option('--seams', 'print no text, but a line for each cluster whose log is frozen or empty or has gaps')
    .option('--all', 'with --seams: of all clusters')
    .option('--strict', 'end with 1 if lines may be lost');
  withHelp(withLineTimes(command, terminal), terminal, helpText);
  return command.action(async (cluster: string | undefined, options: Options) => {
    if (options.all === true && options.seams !== true) command.error('error: --all without --seams; expected both');
    if (options.all !== true && cluster === undefined)
      command.error("error: nothing to join; expected a cluster's uid, or --all --seams");
    await readRuns(context, options, async (reader) => {
      const selection = isSelection(options) ? options : await runsOfLines(reader, options);
      const clusters = cluster === undefined ? undefined : clusterFilter(cluster);
      const isFound =
        cluster === undefined || options.seams === true || options.json === true
          ? await printSeams(terminal, reader, clusters, selection, options)
          : await printLog(context, reader, cluster, { ...options, ...selection });
      if (isFound) end('found');
    });
  });
}

/**
 * The runs whose logs have the lines of a period: from the newest run before its first time on, whose log is what the next one is
 * compared with. Without a period, those of the last 24 hours.
 */
async function runsOfLines({ archive, now }: RunReader, { linesFrom, linesTo }: Options): Promise<RunSelection> {
  const from = linesFrom ?? new Date((linesTo ?? now).getTime() - dayMs);
  const before = linesFrom && (await firstOf(runsNewestFirst(archive, { to: linesFrom }, linesFrom)));
  return { from: before?.run ?? from, to: linesTo };
}

/** @returns whether a log is damaged, or lines may be lost and somebody asked for that */
async function printLog(
  { terminal, end }: CommandContext,
  reader: RunReader,
  cluster: string,
  options: Options,
): Promise<boolean> {
  const { archive } = reader;
  const runs = await reader.list({ ...options, to: await loggedUpTo(archive, cluster, options) });
  const period = { from: runs[0]?.run ?? options.from, to: runs.at(-1)?.run ?? options.to };
  let bytes = bytesOfRecords(runs, cluster);
  for await (const { storedBytes } of clusterObjects(archive, 'log', cluster, period)) bytes += storedBytes;
  await printVolume(terminal, bytes);
  const [next] = runs;
  if (next !== undefined && options.to !== undefined && next.run > options.to)
    await print(
      terminal.err,
      `No run lies in this period. This is the log of the next one, ${formatTime(next.run)}, which may have lines of it.\n`,
    );
  const totals = new LogTotals(cluster);
  const noted = async function* (): AsyncGenerator<JoinedRun> {
    for await (const one of joinLogs(reader, cluster, logsOf(reader, runs, cluster))) {
      totals.add(one);
      const isRead = !isMissing(one) && one.head !== undefined;
      const remark = isRead ? remarkOnRecorded(one.key, one.outcome, one.head) : undefined;
      if (remark !== undefined) reader.problems.push(remark);
      yield one;
    }
  };
  const { linesFrom: from, linesTo: to } = options;
  const cut = from === undefined && to === undefined ? undefined : new CutCounts();
  await printText(terminal, noted(), { from, to }, cut);
  if (totals.logs + totals.gone.length === 0) throw await nothingOf(reader, 'log', cluster, period);
  if (cut !== undefined && cut.withoutTime > 0) {
    const share = `${cut.withoutTime.toLocaleString('en-US')} of ${formatCount(cut.lines, 'line')} do not begin with a time`;
    await print(terminal.err, `${share}: each stays with the line before it.\n`);
  }
  await print(terminal.err, `${totals.summary(cut?.wanted)}\n`);
  if (cut === undefined && (options.from ?? options.to) !== undefined)
    await print(terminal.err, '--lines-from and --lines-to cut the text by the times of its lines.\n');
  if (cut?.wanted === 0) {
    await print(terminal.err, `${describeLines(cut, reader)}\n`);
    end('trouble');
  }
  return totals.damaged + totals.gone.length > 0 || (options.strict === true && totals.gaps.length > 0);
}

async function* logsOf(
  reader: RunReader,
  runs: readonly ListedRun[],
  cluster: string,
): AsyncGenerator<RecordedLog | MissingLog> {
  for await (const record of reader.ofCluster(runs, cluster)) {
    const { run } = record;
    if (isAbsent(record)) {
      yield { run, reason: absentText(record) };
      continue;
    }
    const outcome = record.outcomes.find(({ resource }) => resources[resource].holdsLog);
    if (outcome !== undefined && isStored(outcome)) yield { run, outcome };
    else yield { run, reason: `no log: ${whyMissing(record, 'log', cluster)}` };
  }
}

/**
 * The last run whose log has what was logged in a period: a log ends before it is fetched, so the first one at the end of the
 * period or behind it is one of them. Runs that are named one by one are taken as they are.
 */
async function loggedUpTo(
  archive: ArchiveReader,
  cluster: string,
  { to, last }: RunSelection,
): Promise<Date | undefined> {
  if (to === undefined || last !== undefined) return to;
  return (await firstOf(clusterObjects(archive, 'log', cluster, { from: to })))?.run ?? to;
}

/** Says which lines there are in place of those of a period. */
function describeLines({ first, last }: CutCounts, { span }: RunReader): string {
  if (first === undefined || last === undefined)
    return `No line of the logs of ${span} begins with a time, so none can be cut out.`;
  return `The lines of ${span} have times from ${formatTime(first)} up to ${formatTime(last)}; --from and --to choose other runs.`;
}

/** @param cut counts what was looked at; undefined: nothing is cut */
async function printText(
  terminal: Terminal,
  joined: AsyncIterable<JoinedRun>,
  period: Period,
  cut: CutCounts | undefined,
): Promise<void> {
  const whole = textOf(terminal, joined);
  const text = cut === undefined ? whole : cutLines(whole, period, cut);
  await pipeline(terminal.isTerminal ? printableContent(text) : text, terminal.out, { end: false });
}

async function* textOf({ err, errColors }: Terminal, joined: AsyncIterable<JoinedRun>): AsyncGenerator<Buffer> {
  const notes = new LogNotes();
  let isLineOpen = false;
  // Of a cluster without any log in these runs, one error says why.
  let waiting: string | undefined = '';
  for await (const one of joined) {
    const said = notes.of(one).map((note) => `${errColors.yellow(`${formatTime(one.run)}:`)} ${printable(note)}\n`);
    if (waiting !== undefined && isMissing(one) && one.isGone !== true) {
      waiting += said.join('');
      continue;
    }
    await print(err, `${waiting ?? ''}${said.join('')}`);
    waiting = undefined;
    if (isMissing(one) || one.added === undefined) continue;
    const { above, added, newFrom, lineFrom } = one.added;
    // Only what is right behind the open line goes on with it.
    const goesOn: boolean = isLineOpen && above === 0 && newFrom !== lineFrom;
    if (above === 0 && added === 0 && !goesOn) continue;
    let isFirst = true;
    for await (const chunk of one.text({ above: linesAbove(one.added), below: goesOn ? newFrom : lineFrom })) {
      if (isFirst && isLineOpen && !goesOn) yield Buffer.of(newline);
      isFirst = false;
      isLineOpen = chunk.at(-1) !== newline;
      yield chunk;
    }
  }
}

const helpText = `
Each run archives the log as it was then, so two runs mostly share lines. log prints them once, run by run; without a choice of runs those
of the last 24 hours. A log may be oldest or newest first: what no log before has is new, wherever it stands. Where nothing of the end of one log is in the next, lines between may be lost, or the log was begun anew:
standard error says so at that run. A log ends before it is fetched, so the first one behind --to is read too. --lines-from and
--lines-to cut the text where lines begin with an ISO time, and choose the runs that have such lines.

--seams prints a table of the clusters whose logs are frozen or empty, have gaps or are damaged, with the runs since or before which
they are.

Exit codes: 0 done, 1 a log is missing, or a log or a run record is damaged, or with --strict lines may be lost, 2 wrong command line, 3 it could not be
done, no line lies in the period, or a run record could not be read.

Examples:
  npm run --silent collector -- log my-cluster --from "today 09:00" --to "today 15:00" > my-cluster.log
  npm run collector -- log my-cluster --lines-from "yesterday 02:10" --lines-to "yesterday 02:20"
  npm run collector -- log --all --seams --from "7 days ago"
`;
