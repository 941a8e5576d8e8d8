import { join } from 'node:path';
import { runPrefix } from '../../archive/format/keys';
import { resources } from '../../archive/format/resources';
import type { Outcome } from '../../archive/format/run-record';
import type { Run } from '../../archive/read';
import type { AsynchronousResult } from '../../local/deployment/local-function';
import { archiveArgument } from '../archive/open-archive';
import type { WithClusterChange } from '../terminal/cluster-change';
import { shellQuoted } from '../terminal/format';
import { formatDoubts, printOutcomes, printRun, reasonsOf } from '../terminal/print-run';
import { printable, printableLines } from '../terminal/printable';
import { print, type Terminal } from '../terminal/terminal';
import { completingCommand, type StartOptions } from './start-options';
import type { StartedService } from './start-service';
import type { WatchedRun } from './watched-run';

/** A run of the locally deployed stack: what was asked for, and what became of it. */
export interface StartedRun {
  readonly options: StartOptions;
  readonly service: StartedService;
  readonly watched: WatchedRun;
  readonly fired: AsynchronousResult;
  /** Each cluster x resource that the run covers. */
  readonly covered: readonly Pick<Outcome, 'cluster' | 'resource'>[];
  /** The run as its records have it; undefined if none was written. */
  readonly stored: (Run & WithClusterChange) | undefined;
}

/** Prints what was archived, what was not and why, and what completes it. */
export async function reportStart(terminal: Terminal, started: StartedRun): Promise<void> {
  const { stored: run, options, watched, fired } = started;
  if (run === undefined) return reportWithoutRecord(terminal, started);
  await printRun(terminal, run, false, archiveArgument(options.folder));
  const { colors } = terminal;
  const lines: string[] = [];
  // The reasons say what the function's own error says.
  if (fired.failure !== undefined && fired.failure !== fired.attempts.at(-1)?.error)
    lines.push(colors.red(printable(fired.failure.errorMessage)));
  if (watched.isLastLeftOut)
    lines.push('Left out: the last attempt, which in Lambda asks until the service answers, for up to 14 minutes.');
  if (run.status !== 'complete') lines.push(`Complete the run with\n  ${completingCommand(options, run.run)}`);
  lines.push(`Run records: ${join(options.folder, runPrefix(run.run))}*`);
  await print(terminal.out, `${lines.join('\n')}\n`);
}

/** Prints what a person may try behind all that was done. */
export async function printNextSteps({ out, colors }: Terminal, started: StartedRun): Promise<void> {
  const { stored: run } = started;
  if (run === undefined) return;
  const steps = nextSteps(started, run).flatMap(([command, purpose]) => [
    `  ${command}`,
    `      ${colors.dim(purpose)}`,
  ]);
  await print(out, `${['', colors.bold('Try next'), ...steps].join('\n')}\n`);
}

type Step = [command: string, purpose: string];

function nextSteps({ service, options, fired }: StartedRun, run: Run): Step[] {
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
  if (service.kind === 'demo' && fired.failure === undefined)
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
  const { fired, watched, options } = started;
  const { summary, logged } = watched;
  const isDry = options.dryRun === true && summary !== undefined;
  if (isDry) {
    const { wouldArchive = 0, failed, notAttempted, doubts = 0 } = summary.counts;
    const run = { run: new Date(summary.run), outcomes: logged };
    await printOutcomes(terminal, run, '--clusters chooses fewer');
    const counts = `${wouldArchive} would be archived, ${failed} failed, ${notAttempted} not attempted`;
    const reasons = reasonsOf({ outcomes: logged.filter(({ outcome }) => outcome === 'failed') });
    const lines = [`Dry run, nothing was written: ${counts}${formatDoubts(doubts)}`, ...reasons];
    await print(out, `${lines.join('\n')}\n`);
  }
  // The reasons say what the function's own error says, unless it ended early.
  const { failure } = fired;
  const isSaid = isDry && summary.counts.notAttempted === 0 && failure === fired.attempts.at(-1)?.error;
  if (failure !== undefined && !isSaid)
    await print(out, `${colors.red(`${failure.errorType}:`)} ${printableLines(failure.errorMessage)}\n`);
}
