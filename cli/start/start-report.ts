import { join } from 'node:path';
import { parseObjectKey, runPrefix } from '../../lambda/archive/archive-layout';
import { type Outcome, taskName } from '../../lambda/run/run-record';
import type { Run } from '../../lambda/verify/read-run';
import type { FunctionError } from '../../local/deployment/execution-environment';
import { archiveArgument } from '../archive/open-archive';
import { formatBytes, formatCount, formatTime, shellQuoted } from '../terminal/format';
import {
  formatDoubts,
  formatOutcomeCounts,
  outcomesFailuresFirst,
  reasonsOf,
  shownOutcomes,
  summarizeRun,
} from '../terminal/print-run';
import { printable, printableLines } from '../terminal/printable';
import { printTable } from '../terminal/table';
import { print, printJson, type Terminal } from '../terminal/terminal';
import type { StartOptions } from './start-options';
import type { StartedRun } from './start-run';
import type { StartedService } from './start-service';
import { outcomeColumns, printShards } from './start-tables';

export interface Reported {
  readonly service: StartedService;
  readonly started: StartedRun;
  readonly options: StartOptions;
  /** Arguments of this start. */
  readonly args: readonly string[];
}

/** Most errors that are quoted whole. */
const quotedErrors = 5;

/** Prints one JSON document with everything that is known about the run, and about the audit after it. */
export async function reportAsJson(terminal: Terminal, reported: Reported, audit?: object): Promise<void> {
  const { service, started, args } = reported;
  const { folder, dryRun = false } = reported.options;
  const { stored: run } = started;
  await printJson(terminal.out, {
    service: { kind: service.kind, url: service.url },
    folder,
    scheduled: started.scheduled,
    dryRun,
    isComplete: isComplete(started),
    ...(run === undefined
      ? { ...started.summary, outcomes: outcomesOfDryRun(started) }
      : { ...summarizeRun(run), outcomes: outcomesFailuresFirst(run) }),
    error: failureOf(started),
    ...(run !== undefined && !isComplete(started) && { completeWith: completingCommand(args, run.run) }),
    audit,
  });
}

/** The outcomes of a dry run. If it ended early, the log only says which failed, and the counts how many others there are. */
function outcomesOfDryRun({ covered, failures, summary }: StartedRun): readonly Outcome[] {
  const failed = new Set(failures.map(taskName));
  const others = covered.filter((task) => !failed.has(taskName(task)));
  if (others.length !== (summary?.counts.wouldArchive ?? 0)) return failures;
  return [...failures, ...others.map((task): Outcome => ({ ...task, outcome: 'would-archive' }))];
}

/** Prints what was archived where, what was not and why, and what to try next. */
export async function reportAsText(terminal: Terminal, reported: Reported): Promise<void> {
  const { stored: run } = reported.started;
  if (run === undefined) return reportWithoutRecord(terminal, reported);
  const { folder } = reported.options;
  const outcomes = outcomesFailuresFirst(run);
  const shown = outcomes.slice(0, shownOutcomes);
  await printTable(terminal, outcomeColumns(terminal, shown), shown);
  const command = `npm run collector -- runs ${run.run.toISOString()} --all${archiveArgument(folder)}`;
  if (outcomes.length > shown.length)
    await print(terminal.out, `… and ${outcomes.length - shown.length} more: ${command}\n`);
  for (const [at, { outcome, resource, cluster, error, doubt }] of shown.entries()) {
    const name = `${resource} of ${cluster}`;
    // The reasons below say the rest.
    if (error !== undefined && at < quotedErrors)
      await print(terminal.out, `${terminal.colors.red(outcome)} ${printable(`${name}: ${error}`)}\n`);
    if (doubt !== undefined)
      await print(terminal.out, `${terminal.colors.yellow('doubt')} ${printable(`${name}: ${doubt}`)}\n`);
  }
  if (run.shards > 1) await printShards(terminal, run);
  await print(terminal.out, `${conclusion(terminal, reported, run)}\n`);
}

export function isComplete(started: StartedRun): boolean {
  return failureOf(started) === undefined;
}

function conclusion({ colors }: Terminal, reported: Reported, run: Run): string {
  const { started, args } = reported;
  const { folder } = reported.options;
  const sizes = `${formatBytes(run.bytes)} of content in ${formatBytes(run.storedBytes)}`;
  const lines = [
    `${isComplete(started) ? colors.green('Complete:') : colors.red('Incomplete:')} ` +
      `${formatOutcomeCounts(run.counts)}; ${sizes}, ${attemptsOf(started, run)}`,
    ...reasonsOf(run),
    ...run.stopped.slice(-1).map((reason) => `Ended early: ${printable(reason)}`),
    ...(started.execution?.failure === undefined ? [] : [colors.red(printable(started.execution.failure.cause))]),
    ...(started.refused === undefined ? [] : [colors.red(printable(started.refused.message))]),
    ...(started.isLastLeftOut
      ? ['Left out: the last attempt, which in Lambda asks until the service answers, for up to 14 minutes.']
      : []),
    ...(isComplete(started) ? [] : [`Complete the run with\n  ${completingCommand(args, run.run)}`]),
    run.shards === 1
      ? `Run record: ${join(folder, started.records.at(-1) ?? runPrefix(run.run))}`
      : `Run records: ${join(folder, runPrefix(run.run))}shard-*`,
    '',
    colors.bold('Try next'),
    ...nextSteps(reported, run).map(([command, purpose]) => `  ${command}\n      ${colors.dim(purpose)}`),
  ];
  return lines.join('\n');
}

/** The command that completes a run with the options of its start, apart from the faults. */
export function completingCommand(args: readonly string[], run: Date): string {
  const kept = args.filter(
    (arg, at) => !/^--(fail|run)$/.test(args[at - 1] ?? '') && !/^--(fail|run|without-record)(=|$)/.test(arg),
  );
  return ['npm start --', ...kept.map(shellQuoted), '--run', run.toISOString()].join(' ');
}

/** `after 1 attempt`, `in 4 shards`, `after 6 attempts in 4 shards`. */
function attemptsOf({ records }: StartedRun, { shards }: Run): string {
  const attempts = `after ${formatCount(records.length, 'attempt')}`;
  if (shards === 1) return attempts;
  return records.length === shards ? `in ${shards} shards` : `${attempts} in ${shards} shards`;
}

function nextSteps(
  { service: { kind }, started, options: { folder } }: Reported,
  run: Run,
): [command: string, purpose: string][] {
  const stored = run.outcomes.find(({ key, resource }) => key !== undefined && resource === 'manifest');
  const steps: [string, string][] = [];
  if (!isComplete(started))
    steps.push([
      `npm run collector -- runs ${formatTime(run.run)} --all${archiveArgument(folder)}`,
      'shows every outcome of this run with its reason',
    ]);
  if (stored?.key !== undefined) {
    const decompress = parseObjectKey(stored.key)?.compression === 'zstd' ? 'zstd -dc' : 'gunzip -c';
    steps.push([
      `${decompress} ${shellQuoted(join(folder, stored.key))} | head`,
      'reads an object, which is a plain compressed file',
    ]);
    steps.push([
      `npm run collector -- show ${shellQuoted(stored.cluster)} --resource manifest${archiveArgument(folder)}`,
      'prints the newest manifest of the cluster',
    ]);
  }
  steps.push([`npm run collector -- runs${archiveArgument(folder)}`, 'lists the runs']);
  steps.push([
    `npm run collector -- verify${archiveArgument(folder)}`,
    'checks that the archive is whole and as it was written',
  ]);
  if (kind === 'demo' && isComplete(started)) {
    const uid = run.outcomes[0]?.cluster ?? 'prod-eu-1';
    steps.push([
      `npm start -- --fail ${shellQuoted(`${uid}=other-cluster`)}`,
      'shows what happens when the service gives a wrong answer',
    ]);
    steps.push(
      started.audit === undefined
        ? ['npm start -- --audit', 'seals the archive and verifies it against its seals']
        : ['npm start -- --audit --tamper', 'shows that a replaced manifest and run record are found'],
    );
  }
  return steps;
}

/** Reports a dry run, or a run that could not begin: neither leaves a record. */
async function reportWithoutRecord(
  { out, colors }: Terminal,
  { started, options: { dryRun } }: Reported,
): Promise<void> {
  const failure = failureOf(started);
  const { counts } = started.summary ?? {};
  const lines = [
    ...(dryRun && counts !== undefined
      ? [
          `Dry run, nothing was written: ${counts.wouldArchive ?? 0} would be archived, ${counts.failed} failed, ${counts.notAttempted} not attempted${formatDoubts(counts.doubts ?? 0)}`,
        ]
      : []),
    ...(failure === undefined
      ? []
      : [`${colors.red(`${failure.errorType}:`)} ${printableLines(failure.errorMessage)}`]),
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
