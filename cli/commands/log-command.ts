import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { dayMs } from '../../lambda/time-limits';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { firstOf } from '../../lambda/verify/newest-first';
import { clusterObjects } from '../../lambda/verify/objects-between';
import type { Period } from '../../lambda/verify/run-keys';
import { clusterFilter } from '../archive/cluster-names';
import { LineCut } from '../archive/cut-lines';
import { isMissing, type JoinedRun, joinLogs, linesBefore } from '../archive/join-logs';
import { openArchiveNow } from '../archive/open-archive';
import { RecordedObjects } from '../archive/recorded-object';
import { noteNextLog, nothingOf } from '../archive/select-object';
import { type RunSelection, selectPeriod } from '../archive/select-runs';
import { formatCount, formatTime } from '../terminal/format';
import { printable, printableContent } from '../terminal/printable';
import { printVolume } from '../terminal/progress';
import { printTable } from '../terminal/table';
import { type CommandContext, print, printJsonArray, type Terminal } from '../terminal/terminal';
import { printFleetSeams } from './fleet-seams';
import { type Remarked, seamColumns, summarizeSeams } from './log-seams';
import { LogTotals } from './log-totals';
import { isSelection, type RunOptions, readRuns, withHelp, withLineTimes, withRuns } from './options';
import { RecordRemarks } from './record-remarks';

interface Options extends RunOptions {
  readonly linesFrom?: Date;
  readonly linesTo?: Date;
  readonly seams?: boolean;
  readonly all?: boolean;
  readonly strict?: boolean;
  readonly escape: boolean;
}

const newline = 0x0a;

/** `log`: the logs of a cluster as one. */
export function logCommand(context: CommandContext): Command {
  const { terminal, end } = context;
  const command = new Command('log')
    .summary('the log of a cluster over many runs, each line once')
    .description('Joins the archived logs of a cluster: each line once, and a note wherever lines may be lost.')
    .argument('[cluster]', "the cluster's uid; with --all a pattern with * and ?");
  withRuns(command, terminal, 'the last 24 hours')
    .option('--seams', 'print how each log follows the one before it, instead of the text')
    .option('--all', 'with --seams: a line for each cluster of which there is anything to say')
    .option('--strict', 'end with 1 if lines may be lost')
    .option('--no-escape', 'leave control characters as they are, on a terminal too');
  withHelp(withLineTimes(command, terminal), terminal, helpText);
  return command.action(async (cluster: string | undefined, options: Options) => {
    const lastDay = (now: Date) => (isSelection(options) ? options : { from: new Date(now.getTime() - dayMs) });
    if (options.all === true) {
      if (options.seams !== true) return command.error('error: --all without --seams; expected both');
      return readRuns(context, options, async (reader) => {
        const clusters = cluster === undefined ? undefined : clusterFilter(cluster);
        const gaps = await printFleetSeams(terminal, reader, clusters, lastDay(reader.now), options.json === true);
        if (options.strict === true && gaps > 0) end('found');
      });
    }
    if (cluster === undefined)
      return command.error("error: nothing to join; expected a cluster's uid, or --all --seams");
    const opened = await openArchiveNow(options.archive, terminal);
    const { archive, now } = opened;
    const selection = lastDay(now);
    const period = await loggedIn(archive, cluster, selection, now);
    const totals = new LogTotals();
    const remarks = new RecordRemarks();
    const isTable = options.seams === true || options.json === true;
    const recorded = new RecordedObjects(opened);
    await printVolume(terminal, await recorded.bytes('log', cluster, period));
    const noted = async function* (): AsyncGenerator<JoinedRun & Remarked> {
      const runs = recorded.runs('log', cluster, period);
      for await (const one of joinLogs(opened, cluster, period.from, runs, !isTable)) {
        totals.add(one);
        const remark = isMissing(one) ? undefined : await recorded.remarkOnRead(one);
        if (!isMissing(one)) remarks.add({ ...one.object, remark });
        yield { ...one, remark };
      }
    };
    if (options.json === true) await printJsonArray(terminal.out, summarizeSeams(noted()));
    else if (isTable) await printTable(terminal, seamColumns(terminal), noted());
    else await printText(terminal, noted(), options);
    if (totals.logs === 0) throw await nothingOf(archive, 'log', cluster, period, now);
    await remarks.print(terminal);
    await print(terminal.err, `${totals.summary()}\n`);
    if (period.to !== undefined && options.to === undefined)
      await noteNextLog(terminal, archive, cluster, period.to, 'The last lines of this period');
    const isFound = totals.damaged > 0 || (options.strict === true && totals.gaps > 0);
    end(isFound ? 'found' : remarks.ending());
  });
}

/**
 * The runs whose logs have what was logged in a period: a log ends before it is fetched, so the first one at the end of the
 * period or behind it is one of them. Runs that are named one by one are taken as they are.
 */
async function loggedIn(archive: ArchiveReader, cluster: string, selection: RunSelection, now: Date): Promise<Period> {
  const period = (await selectPeriod(archive, selection, now)) ?? { from: now };
  if (selection.to === undefined || selection.last !== undefined) return period;
  const behind = await firstOf(clusterObjects(archive, 'log', cluster, { from: selection.to }));
  return { ...period, to: behind?.run ?? selection.to };
}

async function printText(terminal: Terminal, joined: AsyncIterable<JoinedRun>, options: Options): Promise<void> {
  const { linesFrom, linesTo } = options;
  const cut = linesFrom === undefined && linesTo === undefined ? undefined : new LineCut(linesFrom, linesTo);
  const whole = textOf(terminal, joined);
  const text = cut === undefined ? whole : cut.cut(whole);
  await pipeline(terminal.isTerminal && options.escape ? printableContent(text) : text, terminal.out, { end: false });
  if (cut !== undefined)
    await print(terminal.err, `${cut.withoutTime} of ${formatCount(cut.lines, 'line')} do not begin with a time.\n`);
}

async function* textOf({ err, errColors }: Terminal, joined: AsyncIterable<JoinedRun>): AsyncGenerator<Buffer> {
  let isLineOpen = false;
  for await (const one of joined) {
    const note = noteOf(one);
    if (note !== undefined) await print(err, `${errColors.yellow(`${formatTime(one.run)}:`)} ${printable(note)}\n`);
    if (isMissing(one) || one.added === undefined) continue;
    // What follows a gap does not go on with the line before it.
    if (isLineOpen && one.link.seam.kind === 'gap' && one.added.newFrom === 0) yield Buffer.of(newline);
    for await (const chunk of one.textFrom(one.added.newFrom)) {
      isLineOpen = chunk.at(-1) !== newline;
      yield chunk;
    }
  }
}

/** What a reader of the joined log has to know of this run; undefined: nothing. */
function noteOf(joined: JoinedRun): string | undefined {
  if (isMissing(joined)) return `no log: ${joined.reason}`;
  const { link, problem } = joined;
  const { kind } = link.seam;
  const base = link.base === undefined ? '' : ` of the run ${formatTime(link.base)}`;
  if (problem !== undefined) return `no text: ${problem}`;
  if (kind === 'older') return `older: the log ends before that${base} does, a stale answer; it adds nothing`;
  const before = formatCount(linesBefore(joined), 'line');
  const reachesBack = `reaches back: its first ${before} are from before the log that it follows and are left out`;
  if (kind !== 'gap') return linesBefore(joined) === 0 ? undefined : reachesBack;
  return `gap: nothing of the end of the log${base} is in it: lines between may be lost, or the log was begun anew`;
}

const helpText = `
Each run archives the log as it was then, so two runs mostly share lines. log prints them once, in their order; without a choice of runs
those of the last 24 hours. Where nothing of the end of one log is in the next, lines between may be lost, or the log was begun anew:
standard error says so at that run. A log ends before it is fetched, so the first one behind --to is read too. --lines-from and
--lines-to cut the text where lines begin with an ISO time.

--seams prints a table: how each log follows the one before it. With --all, it has a line for each cluster whose log is frozen or empty
or has gaps. With --json: the same as an array.

Exit codes: 0 done, 1 a log is damaged, no run record says that it was archived, or with --strict lines may be lost, 2
wrong command line, 3 it could not be done, or a run record could not be read.

Examples:
  npm run --silent collector -- log my-cluster --from "today 09:00" --to "today 15:00" > my-cluster.log
  npm run collector -- log my-cluster --from yesterday --lines-from "yesterday 02:10" --lines-to "yesterday 02:20"
  npm run collector -- log my-cluster --last 24 --seams
`;
