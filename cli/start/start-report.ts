import { join } from 'node:path';
import { runPrefix } from '../../lambda/archive/archive-layout';
import { resources } from '../../lambda/resources';
import { type Outcome, taskName } from '../../lambda/run/run-record';
import type { Run } from '../../lambda/verify/read-run';
import { archiveArgument } from '../archive/open-archive';
import { changeLines, type WithClusterChange } from '../terminal/cluster-change';
import { formatBytes, formatCount, formatTime, shellQuoted } from '../terminal/format';
import { formatDoubts, formatOutcomeCounts, printOutcomes, reasonsOf } from '../terminal/print-run';
import { printable, printableLines } from '../terminal/printable';
import { print, type Terminal } from '../terminal/terminal';
import type { Fired } from './start-audit';
import { completingCommand, type StartOptions } from './start-options';
import type { StartedService } from './start-service';
import type { WatchedRun } from './watched-run';

/** A run of the locally deployed stack: what was asked for, and what became of it. */
export interface StartedRun extends Fired, Pick<WatchedRun, 'isLastLeftOut' | 'summary' | 'logged' | 'records'> {
  readonly options: StartOptions;
  readonly service: StartedService;
  /** Whether the schedule was fired, rather than the function invoked by hand. */
  readonly scheduled: boolean;
  /** Each cluster x resource that the run covers. */
  readonly covered: readonly Pick<Outcome, 'cluster' | 'resource'>[];
  /** The run as its records have it; undefined if none was written. */
  readonly stored: (Run & WithClusterChange) | undefined;
}

/** The outcomes of a dry run. If it ended early, the log has some of them, and the counts say how many others there are. */
function outcomesOfDryRun({ covered, logged, summary }: StartedRun): readonly Outcome[] {
  const known = new Set(logged.map(taskName));
  const others = covered.filter((task) => !known.has(taskName(task)));
  const doubted = logged.filter(({ outcome }) => outcome === 'would-archive').length;
  if (others.length + doubted !== (summary?.counts.wouldArchive ?? 0)) return logged;
  return [...logged, ...others.map((task): Outcome => ({ ...task, outcome: 'would-archive' }))];
}

/** Prints how the run was started, what was archived, what was not and why, and what to try next. */
export async function reportStart(terminal: Terminal, started: StartedRun): Promise<void> {
  const { stored: run, summary, scheduled, service } = started;
  const fired = service.config.shards === 1 ? 'was fired' : 'started the state machine';
  const how = scheduled ? `The schedule ${fired}` : 'The function was invoked by hand';
  await print(terminal.out, `${how}${summary === undefined ? '' : `: run ${formatTime(summary.run)}`}\n`);
  if (run === undefined) return reportWithoutRecord(terminal, started);
  await printOutcomes(terminal, run, `${showingAll(started, run)} shows every row`);
  await print(terminal.out, `${conclusion(terminal, started, run)}\n`);
}

function showingAll({ options }: StartedRun, run: Run): string {
  return `npm run collector -- runs ${formatTime(run.run)} --all${archiveArgument(options.folder)}`;
}

function conclusion({ colors }: Terminal, started: StartedRun, run: Run & WithClusterChange): string {
  const { options, failure, records } = started;
  const sizes = `${formatBytes(run.bytes)} of content in ${formatBytes(run.storedBytes)}`;
  const isRefused = run.status === 'complete' && run.clusters?.read.problem !== undefined;
  const verdict = failure === undefined || isRefused ? colors.green('Complete:') : colors.red('Incomplete:');
  const lines = [`${verdict} ${formatOutcomeCounts(run.counts)}; ${sizes}, ${attemptsOf(started, run)}`];
  lines.push(...reasonsOf(run), ...changeLines(run.clusters).map((line) => colors.yellow(printableLines(line))));
  lines.push(...run.stopped.slice(-1).map((reason) => `Ended early: ${printable(reason)}`));
  // The reasons say what the function's own error says.
  if (failure !== undefined && failure !== started.attempts.at(-1)?.error)
    lines.push(colors.red(printable(failure.errorMessage)));
  if (started.isLastLeftOut)
    lines.push('Left out: the last attempt, which in Lambda asks until the service answers, for up to 14 minutes.');
  if (failure !== undefined && !isRefused)
    lines.push(`Complete the run with\n  ${completingCommand(options, run.run)}`);
  if (run.shards > 1) lines.push(`Run records: ${join(options.folder, runPrefix(run.run))}shard-*`);
  else lines.push(`Run record: ${join(options.folder, records.at(-1) ?? runPrefix(run.run))}`);
  lines.push('', colors.bold('Try next'));
  for (const [command, purpose] of nextSteps(started, run)) lines.push(`  ${command}`, `      ${colors.dim(purpose)}`);
  return lines.join('\n');
}

/** `after 1 attempt`, `in 4 shards`, `after 6 attempts in 4 shards`. */
function attemptsOf({ records }: StartedRun, { shards }: Run): string {
  const attempts = `after ${formatCount(records.length, 'attempt')}`;
  if (shards === 1) return attempts;
  return records.length === shards ? `in ${shards} shards` : `${attempts} in ${shards} shards`;
}

type Step = [command: string, purpose: string];

function nextSteps(started: StartedRun, run: Run): Step[] {
  const { service, options } = started;
  const { folder } = options;
  const archive = archiveArgument(folder);
  const collector = (command: string) => `npm run collector -- ${command}${archive}`;
  const manifest = run.outcomes.find(({ key, resource }) => key !== undefined && !resources[resource].holdsLog);
  const { key = '', cluster = '' } = manifest ?? {};
  const fault = shellQuoted(`${run.outcomes[0]?.cluster}=other-cluster`);
  const steps: Step[] = [];
  if (manifest !== undefined)
    steps.push(
      [`gunzip -c ${shellQuoted(join(folder, key))} | head`, 'reads an object, which is a plain compressed file'],
      [
        collector(`show ${shellQuoted(cluster)} --resource ${manifest.resource}`),
        'prints the newest manifest of the cluster',
      ],
    );
  steps.push(
    [collector('runs'), 'lists the runs'],
    [collector('verify'), 'checks that the archive is whole and as it was written'],
  );
  if (service.kind === 'demo' && started.failure === undefined)
    steps.push(
      [`npm start -- --fail ${fault}`, 'shows what happens when the service gives a wrong answer'],
      options.audit !== true
        ? ['npm start -- --audit', 'seals the archive and verifies it against its seals']
        : ['npm start -- --tamper', 'shows that a replaced manifest and run record are found'],
    );
  return steps;
}

/** Reports a dry run, or a run that could not begin: neither leaves a record. */
async function reportWithoutRecord(terminal: Terminal, started: StartedRun): Promise<void> {
  const { out, colors } = terminal;
  const { failure, summary, options, attempts, logged } = started;
  const isDry = options.dryRun === true && summary !== undefined;
  if (isDry) {
    const { wouldArchive = 0, failed, notAttempted, doubts = 0 } = summary.counts;
    const run = { run: new Date(summary.run), outcomes: outcomesOfDryRun(started) };
    await printOutcomes(terminal, run, '--clusters chooses fewer');
    const counts = `${wouldArchive} would be archived, ${failed} failed, ${notAttempted} not attempted`;
    const reasons = reasonsOf({ outcomes: logged.filter(({ outcome }) => outcome === 'failed') });
    const lines = [`Dry run, nothing was written: ${counts}${formatDoubts(doubts)}`, ...reasons];
    await print(out, `${lines.join('\n')}\n`);
  }
  // The reasons say what the function's own error says, unless it ended early.
  const isSaid = isDry && summary.counts.notAttempted === 0 && failure === attempts.at(-1)?.error;
  if (failure !== undefined && !isSaid)
    await print(out, `${colors.red(`${failure.errorType}:`)} ${printableLines(failure.errorMessage)}\n`);
}
