import { join } from 'node:path';
import { parseObjectKey, parseRunRecordKey, runPrefix } from '../../lambda/archive/archive-layout';
import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import { isInShard } from '../../lambda/run/shard';
import { type Run, readRun } from '../../lambda/verify/read-run';
import { runsBetween } from '../../lambda/verify/run-keys';
import type { FunctionError } from '../../local/deployment/execution-environment';
import { FolderArchiveReader } from '../archive/folder-archive-reader';
import { formatBytes, formatCount } from '../terminal/format';
import { outcomesFailuresFirst, summarizeRun } from '../terminal/print-run';
import { printable } from '../terminal/printable';
import { printTable } from '../terminal/table';
import { print, printJson, type Terminal } from '../terminal/terminal';
import type { StartedRun } from './start-run';
import type { StartedService } from './start-service';

export interface Reported {
  readonly service: StartedService;
  readonly started: StartedRun;
  /** Folder of the archive, as it was given. */
  readonly folder: string;
  readonly dryRun: boolean;
  /** Arguments of this start. */
  readonly args: readonly string[];
}

/** Rows of the table; a large fleet's table would bury the counts. */
const shownOutcomes = 20;

/** One JSON document with everything that is known of the run. */
export async function reportAsJson(terminal: Terminal, reported: Reported): Promise<void> {
  const { service, started, folder, dryRun } = reported;
  const run = await storedRun(folder, started);
  await printJson(terminal.out, {
    service: { kind: service.kind, url: service.url },
    folder,
    scheduled: started.scheduled,
    dryRun,
    isComplete: isComplete(started),
    ...(run === undefined
      ? { ...started.summary, outcomes: started.failures }
      : { ...summarizeRun(run), outcomes: outcomesFailuresFirst(run) }),
    error: failureOf(started),
    ...(run !== undefined && started.isLastLeftOut && { completeWith: completingCommand(reported, run) }),
  });
}

/** What was archived where, what was not and why, and what to try next. */
export async function reportAsText(terminal: Terminal, reported: Reported): Promise<void> {
  const { started, folder } = reported;
  const run = await storedRun(folder, started);
  if (run === undefined) {
    await reportWithoutRecord(terminal, reported);
    return;
  }
  const outcomes = outcomesFailuresFirst(run);
  const shown = outcomes.slice(0, shownOutcomes);
  await printTable(terminal, columnsOf(terminal, shown), shown);
  const command = `npm run collector -- runs ${run.run.toISOString()}${at(folder)}`;
  if (outcomes.length > shown.length)
    await print(terminal.out, `… and ${outcomes.length - shown.length} more: ${command}\n`);
  for (const { outcome, resource, cluster, error } of shown)
    if (error !== undefined)
      await print(
        terminal.out,
        `${terminal.colors.red(outcome)} ${printable(`${resource} of ${cluster}: ${error}`)}\n`,
      );
  if (run.shards > 1) await printShards(terminal, run);
  await print(terminal.out, `${conclusion(terminal, reported, run)}\n`);
}

export function isComplete(started: StartedRun): boolean {
  return failureOf(started) === undefined;
}

/** The run as its stored records tell it; undefined if none was written. */
async function storedRun(folder: string, { records }: StartedRun): Promise<Run | undefined> {
  const time = parseRunRecordKey(records[0] ?? '')?.run;
  if (time === undefined) return undefined;
  const archive = new FolderArchiveReader(folder);
  for await (const listed of runsBetween(archive, { from: time, to: time })) return readRun(archive, listed);
  return undefined;
}

/** Terminals narrower than this have no room for keys, which the cluster and the run's time make up anyway. */
const columnsForKeys = 132;

function columnsOf({ colors, columns = columnsForKeys }: Terminal, rows: readonly RunOutcome[]) {
  const hasKeys = columns >= columnsForKeys && rows.some(({ key }) => key !== undefined);
  return [
    { head: 'Cluster', cell: (row: RunOutcome) => row.cluster, gives: true },
    { head: 'Resource', cell: (row: RunOutcome) => row.resource },
    {
      head: 'Outcome',
      cell: (row: RunOutcome) => row.outcome,
      color: (text: string, row: RunOutcome) => (row.key === undefined ? colors.red(text) : colors.green(text)),
    },
    { head: 'Content', cell: (row: RunOutcome) => formatBytes(row.bytes), align: 'right' as const },
    { head: 'Stored', cell: (row: RunOutcome) => formatBytes(row.storedBytes), align: 'right' as const },
    ...(hasKeys ? [{ head: 'Object', cell: (row: RunOutcome) => row.key ?? '', gives: true }] : []),
  ];
}

function conclusion({ colors }: Terminal, reported: Reported, run: Run): string {
  const { service, started, folder } = reported;
  const { archived, failed, notAttempted } = run.counts;
  const counts = `${archived} of ${archived + failed + notAttempted} archived, ${failed} failed, ${notAttempted} not attempted`;
  const sizes = `${formatBytes(run.bytes)} of content in ${formatBytes(run.storedBytes)}`;
  const lines = [
    `${isComplete(started) ? colors.green('Complete:') : colors.red('Incomplete:')} ${counts}; ${sizes}, ` +
      `after ${formatCount(started.records.length, 'attempt')}${run.shards === 1 ? '' : ` in ${run.shards} shards`}`,
    ...run.stopped.slice(-1).map((reason) => `Ended early: ${printable(reason)}`),
    ...(started.execution?.failure === undefined ? [] : [colors.red(printable(started.execution.failure.cause))]),
    ...(started.refused === undefined ? [] : [colors.red(printable(started.refused.message))]),
    ...(started.isLastLeftOut ? [leftOut(reported, run)] : []),
    run.shards === 1
      ? `Run record: ${join(folder, started.records.at(-1) ?? runPrefix(run.run))}`
      : `Run records: ${join(folder, runPrefix(run.run))}shard-*`,
    '',
    colors.bold('Try next'),
    ...nextSteps(service, folder, run, isComplete(started)).map(
      ([command, purpose]) => `  ${command}\n      ${colors.dim(purpose)}`,
    ),
  ];
  return lines.join('\n');
}

function leftOut(reported: Reported, run: Run): string {
  return [
    'Left out: the last attempt, which in Lambda asks until the service answers, for up to 14 minutes. Complete the run with',
    `  ${completingCommand(reported, run)}`,
  ].join('\n');
}

/** The command that completes the run with the options of this start. */
function completingCommand({ args }: Reported, { run }: Run): string {
  return ['npm start --', ...args.map(quoted), '--run', run.toISOString()].join(' ');
}

function nextSteps(
  { kind }: StartedService,
  folder: string,
  run: Run,
  isGreen: boolean,
): [command: string, purpose: string][] {
  const stored = run.outcomes.find(({ key, resource }) => key !== undefined && resource === 'manifest');
  const steps: [string, string][] = [];
  if (stored?.key !== undefined) {
    const decompress = parseObjectKey(stored.key)?.compression === 'zstd' ? 'zstd -dc' : 'gunzip -c';
    steps.push([
      `${decompress} ${quoted(join(folder, stored.key))} | head`,
      'reads an object: it is nothing but a compressed file',
    ]);
    steps.push([
      `npm run collector -- show ${quoted(stored.cluster)} --resource manifest${at(folder)}`,
      'finds the newest manifest of the cluster and prints it',
    ]);
  }
  steps.push([`npm run collector -- runs${at(folder)}`, 'lists the runs']);
  steps.push([`npm run collector -- verify${at(folder)}`, 'checks that the archive is whole and as it was written']);
  if (kind === 'demo' && isGreen) {
    const uid = run.outcomes[0]?.cluster ?? 'prod-eu-1';
    steps.push([
      `npm start -- --fail ${quoted(`${uid}=other-cluster`)}`,
      'shows what happens when the service gives a wrong answer',
    ]);
  }
  return steps;
}

/** A dry run leaves no record, and neither does a run that could not begin. */
async function reportWithoutRecord({ out, colors }: Terminal, { started, dryRun }: Reported): Promise<void> {
  const failure = failureOf(started);
  const { counts } = started.summary ?? {};
  const lines = [
    ...(dryRun && counts !== undefined
      ? [
          `Dry run, nothing was written: ${counts.wouldArchive ?? 0} would be archived, ${counts.failed} failed, ${counts.notAttempted} not attempted`,
        ]
      : []),
    ...(failure === undefined ? [] : [`${colors.red(`${failure.errorType}:`)} ${lineByLine(failure.errorMessage)}`]),
  ];
  await print(out, `${lines.join('\n')}\n`);
}

type Failure = Pick<FunctionError, 'errorType' | 'errorMessage'>;

function failureOf({ attempts, execution, refused }: StartedRun): Failure | undefined {
  if (refused !== undefined) return { errorType: refused.name, errorMessage: refused.message };
  if (execution !== undefined)
    return execution.failure && { errorType: execution.failure.error, errorMessage: execution.failure.cause };
  const error = attempts.at(-1)?.error;
  return error && { errorType: error.errorType, errorMessage: error.errorMessage };
}

function lineByLine(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function at(folder: string): string {
  return folder === 'local-archive' ? '' : ` --archive ${quoted(folder)}`;
}

/** An argument for a shell. */
function quoted(text: string): string {
  return /^[\w.,:/=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Rows of the table; what lies beyond is in the records. */
const shownShards = 40;

/** What became of each shard of a run. */
export async function printShards(terminal: Terminal, { shards, outcomes, records }: Run): Promise<void> {
  const rows = Array.from({ length: Math.min(shards, shownShards) }, (_, index) => {
    const own = outcomes.filter(({ cluster }) => isInShard(cluster, { index, count: shards }));
    return {
      index,
      clusters: new Set(own.map(({ cluster }) => cluster)).size,
      archived: own.filter(isStored).length,
      missing: own.filter((outcome) => !isStored(outcome)).length,
      attempts: records.filter((key) => key.includes(`.shard-${index}-of-${shards}.`)).length,
    };
  });
  await printTable(
    terminal,
    [
      { head: 'Shard', cell: ({ index }) => `${index} of ${shards}` },
      { head: 'Clusters', cell: ({ clusters }) => `${clusters}`, align: 'right' },
      { head: 'Archived', cell: ({ archived }) => `${archived}`, align: 'right' },
      { head: 'Not archived', cell: ({ missing }) => `${missing}`, align: 'right' },
      { head: 'Attempts', cell: ({ attempts }) => `${attempts}`, align: 'right' },
    ],
    rows,
  );
}
