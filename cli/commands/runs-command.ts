import { Command } from 'commander';
import { sealKey } from '../../archive/format/keys';
import { describeNotJudged, joinSpans, openDamage, readHead } from '../../archive/prove';
import { isAbsent, type OverdueNow } from '../archive/absent-runs';
import { type ClusterFilter, clusterFilter, noSuchCluster } from '../archive/cluster-names';
import type { HeldRun } from '../archive/held-outcomes';
import { describeNewest, type NewestRun, newestRuns } from '../archive/newest-runs';
import { archiveArgument, completeCommand } from '../archive/open-archive';
import type { RunReader, RunRow } from '../archive/run-reader';
import { describeNoRuns, type RunSelection } from '../archive/select-runs';
import { changeText } from '../terminal/cluster-change';
import { formatBytes, formatCount, formatDuration, formatTime } from '../terminal/format';
import { formatDoubts, outcomesFailuresFirst, printRun, summarizeRun, totalOf } from '../terminal/print-run';
import { type Column, printTable } from '../terminal/table';
import { type CommandContext, print, printJson, printJsonArray, type Terminal } from '../terminal/terminal';
import { absentText, printClusterRuns } from './cluster-runs';
import { asRecorded, type RunOptions, readRuns, selectionOf, withHelp, withRuns } from './options';
import { printRemarks } from './print-findings';
import { type OpenSeal, printOpen, printStale } from './print-health';
import { parseRuns } from './time-argument';
import { type PublicKeyOptions, withPublicKeys } from './trust-options';

const defaultRuns = 20;

interface Options extends RunOptions, PublicKeyOptions {
  readonly all?: boolean;
  readonly strict?: boolean;
  readonly cluster?: ClusterFilter;
}

export function runsCommand(context: CommandContext): Command {
  const { terminal, end } = context;
  const command = new Command('runs')
    .summary('status, and the last runs')
    .description(
      'Says whether the newest run is complete, and lists the last runs, oldest first. Given the time of one: why it is not complete, and its outcomes, failures first.',
    )
    .argument('[time]', 'the run of this time, or the runs of a day or since a time: yesterday, 2h', (text) =>
      parseRuns(text, terminal.now()),
    )
    .option(
      '--cluster <glob>',
      'what became of this cluster in each run; of a pattern with * and ?, since when each is not archived',
      clusterFilter,
    )
    .option('--all', 'with the time of one run: show every outcome, not only the first 20')
    .option('--strict', 'end with 1 also if the newest run of all configured clusters is incomplete');
  const json = 'an array, an element per run; with the time of a run one object';
  withHelp(withPublicKeys(withRuns(command, terminal, defaultRuns, json)), terminal, helpText);
  return command.action(async (named: ReturnType<typeof parseRuns> | undefined, options: Options) => {
    const other = (['run', 'from', 'to', 'last'] as const).find((name) => options[name] !== undefined);
    if (named !== undefined && other !== undefined)
      command.error(`error: both the time of a run and --${other}; expected one of them`);
    const selection = selectionOf({ ...options, ...named }, defaultRuns);
    await readRuns(context, options, async (reader) => {
      const health = await healthOf(reader, options);
      if (!isWell(health, options.strict === true)) end('found');
      if (options.json !== true) await printHealth(terminal, health);
      const isOne = selection.run !== undefined && options.cluster === undefined;
      await (isOne ? printOneRun : printRuns)(terminal, { ...options, ...health, reader, selection });
    });
  });
}

/** What is known of an archive before runs are listed. */
interface Health extends OverdueNow {
  readonly newest: readonly NewestRun[];
  readonly seal: OpenSeal | undefined;
  /** What is wrong with the seals above that one, by key: nobody knows what these say. */
  readonly wrongSeals: ReadonlyMap<string, string>;
}

async function healthOf(reader: RunReader, { publicKey: publicKeys }: PublicKeyOptions): Promise<Health> {
  const wrongSeals = new Map<string, string>();
  const chain = await readHead(reader.archive, { publicKeys }, (_, key, problem) => wrongSeals.set(key, problem));
  for (const { number, why } of chain.passedOver.values()) wrongSeals.set(sealKey(number), why);
  const seal = chain.head && { ...chain.head, ...chain.state };
  return { ...(await reader.overdue()), newest: await newestRuns(reader), seal, wrongSeals };
}

/** The newest run of all configured clusters decides: one that a person started for a few says nothing of the others. */
function isWell({ newest, overdue, seal, wrongSeals }: Health, isStrict: boolean): boolean {
  const { counts, status } = newest.at(-1)?.run ?? {};
  const isEmpty = counts?.archived === 0 && totalOf(counts) > 0;
  const isDamaged = seal !== undefined && openDamage(seal).count > 0;
  return (
    overdue === undefined && !isDamaged && wrongSeals.size === 0 && !isEmpty && !(isStrict && status === 'incomplete')
  );
}

async function printHealth(terminal: Terminal, { overdue, unknown, seal, wrongSeals }: Health): Promise<void> {
  const { out, colors } = terminal;
  const remarks = [...wrongSeals].map(([key, problem]) => ({ kind: 'seal-broken' as const, key, problem }));
  await printRemarks(terminal, remarks);
  if (seal !== undefined) await printOpen(terminal, seal);
  if (overdue !== undefined) await print(out, `${colors.red(colors.bold('OVERDUE:'))} ${overdue.text}.\n`);
  if (unknown !== undefined) await print(out, `Nobody can say whether a run is overdue: ${unknown}.\n`);
}

async function printNewest({ out, colors }: Terminal, newest: readonly NewestRun[], now: Date): Promise<void> {
  for (const [at, one] of newest.entries()) {
    const color = one.run.status === 'complete' ? colors.green : colors.red;
    const what = at === 0 ? 'Newest run' : 'Newest run of all configured clusters';
    await print(out, `${what} ${color(describeNewest(one, now))}\n`);
  }
}

/** What is asked for, and what is known before runs are read. */
interface Asked extends Options, Health {
  readonly reader: RunReader;
  readonly selection: RunSelection;
}

async function printOneRun(terminal: Terminal, asked: Asked): Promise<void> {
  const { reader, selection, json, all, newest } = asked;
  for await (const run of reader.select(selection)) {
    if (isAbsent(run)) continue;
    const held = await reader.held.run(run);
    if (json)
      return printJson(terminal.out, {
        ...summarizeRun(held),
        ...openOf(asked),
        ...(reader.held.notLookedAt > 0 && { notLookedAt: reader.held.notLookedAt }),
        outcomes: outcomesFailuresFirst(held),
      });
    if (newest[0]?.run.run.getTime() !== run.run.getTime()) await printNewest(terminal, newest, reader.now);
    await printRun(terminal, held, all === true, archiveArgument(reader.archive.location));
    const complete = run.status === 'complete' ? undefined : completeCommand(reader.archive.location, run.run);
    if (complete !== undefined) await print(terminal.out, `Complete it with: ${complete}\n`);
  }
}

/** What is open by the newest seal, for `--json`. */
function openOf({ seal }: Health): object | undefined {
  if (seal === undefined) return undefined;
  const { count, since, acknowledged } = openDamage(seal);
  return { openDamage: { count, since, acknowledged: acknowledged.length } };
}

async function printRuns(terminal: Terminal, asked: Asked): Promise<void> {
  const { reader, selection, json, cluster, overdue, newest } = asked;
  const rows: RunRow[] = [];
  // Of the outcomes only those of the cluster: the records of a large fleet are large.
  for await (const row of reader.select(selection)) {
    if (isAbsent(row)) rows.push(row);
    else
      rows.push(
        await reader.held.run({ ...row, outcomes: row.outcomes.filter((one) => cluster?.matches(one.cluster)) }),
      );
  }
  if (overdue !== undefined && selection.run === undefined && selection.to === undefined) rows.push(overdue);
  const isFound = cluster === undefined || rows.some(({ outcomes }) => outcomes.length > 0);
  if (cluster !== undefined && json !== true) {
    await printClusterRuns(terminal, reader, cluster, rows);
    if (!isFound) throw await noSuchCluster(reader, cluster);
    return;
  }
  // Whoever asks for older runs gets the state at the last of them: what came later is not read.
  const stateAt = selection.to === undefined ? undefined : reader.newest;
  const stale = await reader.stale(stateAt ?? reader.now);
  if (json) {
    const elements = rows.flatMap((row) => elementsOf(row, cluster !== undefined));
    const last = elements.pop();
    const all = last && [...elements, { ...last, ...openOf(asked), ...(cluster === undefined && stale) }];
    await printJsonArray(terminal.out, all ?? []);
    if (!isFound) throw await noSuchCluster(reader, cluster);
    if (cluster === undefined && rows.length > 0) await print(terminal.err, asRecorded);
    return;
  }
  await printNewest(terminal, newest, reader.now);
  if ((await printTable(terminal, runColumns(terminal), rows)) === 0)
    await print(terminal.err, `Nothing to show: ${await describeNoRuns(reader)}.\n`);
  else {
    await printStale(terminal, stale, stateAt);
    await print(terminal.err, asRecorded);
  }
  for (const span of joinSpans(reader.due)) await print(terminal.out, `${describeNotJudged(span)}\n`);
}

/** Elements as `--json` documents them. */
function elementsOf(row: RunRow, isOfCluster: boolean): readonly object[] {
  if (isAbsent(row)) return row.times.map((run) => ({ run, status: 'absent' }));
  const { run, status, outcomes } = row;
  return [isOfCluster ? { run, status, outcomes } : summarizeRun(row)];
}

function runColumns({ colors }: Pick<Terminal, 'colors'>): Column<RunRow>[] {
  const ofMissing = { align: 'right', color: (text: string) => (text === '0' ? text : colors.red(text)) } as const;
  const ofRun = (cell: (run: HeldRun) => string) => (row: RunRow) => (isAbsent(row) ? '' : cell(row));
  return [
    { head: 'Run', cell: (row) => formatTime(row.run) },
    { head: 'Attempts', cell: ofRun(attemptsOf), align: 'right', leftOut: 4 },
    { head: 'Archived', cell: ofRun(({ counts }) => `${counts.archived}/${totalOf(counts)}`), align: 'right' },
    { head: 'Failed', cell: ofRun(({ counts }) => `${counts.failed}`), ...ofMissing, leftOut: 6 },
    { head: 'Not attempted', cell: ofRun(({ counts }) => `${counts.notAttempted}`), ...ofMissing, leftOut: 5 },
    { head: 'Content', cell: ofRun(({ bytes }) => formatBytes(bytes)), align: 'right', leftOut: 2 },
    { head: 'Stored', cell: ofRun(({ storedBytes }) => formatBytes(storedBytes)), align: 'right', leftOut: 1 },
    { head: 'Duration', cell: ofRun(({ durationMs }) => formatDuration(durationMs)), align: 'right', leftOut: 3 },
    {
      head: 'Status',
      cell: statusOf,
      color: (text, row) =>
        'status' in row && row.status === 'complete' && row.badRecords.length === 0 && !row.clusters?.read.problem
          ? colors.green(text)
          : colors.red(text),
      wraps: true,
      // A time is never broken.
      narrowest: 20,
    },
  ];
}

function statusOf(row: RunRow): string {
  if (isAbsent(row)) return absentText(row);
  const change = row.clusters === undefined ? '' : changeText(row.clusters);
  const bad = row.badRecords.length === 0 ? '' : ', bad record';
  return `${row.status}${formatDoubts(row.counts.doubts)}${bad}${change === '' ? '' : `; ${change}`}`;
}

function attemptsOf({ attempts, shards }: HeldRun): string {
  return shards === 1 ? `${attempts}` : `${attempts} x ${formatCount(shards, 'shard')}`;
}

const helpText = `
A run that was due and left no record is a row too: absent. Of a bucket, runs says first whether a run is overdue now, and with an
audit what is damaged since when, as the newest right seal has it; after a change of the signing key, give all keys to --public-key, or ask doctor, which
knows them.
Nothing is due in a folder, which is a copy. Below the list stand the clusters that have not been archived for longest, and those that
fail now and then. With --cluster, runs first says since when it is not archived, in how many runs, and why.

Exit codes: 0 done, 1 a run record is damaged, an object is missing (with a time or --cluster, which look), a run is overdue, damage is open, a seal is not right, or the newest run of all configured
clusters archived nothing (with --strict: is incomplete), 2 wrong command line, 3 it could not be done, or a run record
could not be read.

Examples:
  npm run collector -- runs --last 5
  npm run collector -- runs 2026-11-20T10:00:00Z --all
  npm run collector -- runs --from yesterday
  npm run collector -- runs --cluster my-cluster --last 60
  npm run --silent collector -- runs --from 2026-11-01 --json | jq '.[] | select(.status != "complete")'
`;
