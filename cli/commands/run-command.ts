import { Command, Option } from 'commander';
import { openBucket, type Period } from '../../archive/read';
import { isInFuture } from '../../lambda/read-event';
import { withTime } from '../archive/open-archive';
import { RunReader } from '../archive/run-reader';
import { findRun } from '../archive/select-runs';
import { type DeployedCollector, findStack } from '../stack/find-stack';
import { eventOf, type FollowedRun, invokeInAccount, type RunMembers } from '../stack/run-in-account';
import { formatDoubts, printRun } from '../terminal/print-run';
import { printable, printableLines } from '../terminal/printable';
import { Progress } from '../terminal/progress';
import { type CommandContext, print, printJson } from '../terminal/terminal';
import { completeRuns } from './complete-runs';
import { endOf, followedForJson, startAndFollow, whatIsLeft } from './follow-start';
import { type StackOptions, stackNameOf, withHelp, withPeriod, withRunMembers, withStack } from './options';

interface Options extends StackOptions, Period, Omit<RunMembers, 'newRun'> {
  readonly all?: boolean;
  readonly incomplete?: boolean;
}

export function runCommand(context: CommandContext): Command {
  const { terminal } = context;
  const command = new Command('run')
    .summary('starts or completes a run')
    .description('Starts a run of the deployed collector, or completes an earlier one, and follows it to its end.');
  withPeriod(withRunMembers(withStack(command)), terminal, [
    'with --incomplete: runs at or after this time',
    'with --incomplete: runs at or before this time',
  ])
    .addOption(
      new Option(
        '--incomplete',
        'complete the incomplete runs since --from, one after the other, the oldest first',
      ).conflicts(['run', 'withoutRecord', 'dryRun']),
    )
    .option('--request-id <id>', 'the query parameter requestId of every log call')
    .option('--all', 'show every outcome, not only the first 20');
  withHelp(command, terminal, helpText);
  return command.action(async (options: Options) => {
    if (options.withoutRecord && options.run === undefined)
      command.error('error: --without-record without --run; expected the time of the run that left no record');
    checkIncomplete(command, options);
    const collector = await findStack(stackNameOf(options));
    if (options.incomplete) await completeRuns(context, collector, options);
    else await (options.dryRun ? runDry : runForGood)(context, collector, options);
  });
}

async function runForGood(context: CommandContext, collector: DeployedCollector, options: Options): Promise<void> {
  const { terminal, end, surroundings } = context;
  const reader = await openBucket(collector.archiveBucket, collector.region);
  if (options.run !== undefined && !options.withoutRecord) await findRun(reader, options.run);
  const wanted: RunMembers = { ...options, newRun: terminal.now() };
  const run = options.run ?? wanted.newRun;
  const archive = await withTime(reader, terminal);
  if (isInFuture(run, archive.now))
    throw new Error(
      `Starting run ${run.toISOString()} failed: S3's clock says ${archive.now.toISOString()}, more than two hours earlier; set the clock of this machine`,
    );
  const runs = new RunReader(archive);
  const configuration = options.clusters && (await runs.configurationOf(await runs.newestRun()));
  const unknown = options.clusters?.filter((uid) => configuration?.clusters.has(uid) === false) ?? [];
  if (unknown.length > 0)
    await print(
      terminal.err,
      `The configuration of the newest run does not have ${printable(unknown.join(', '))}: unless another one was deployed since, the function refuses this start\n`,
    );
  const interrupted = surroundings.interruption();
  const followed = await startAndFollow(context, { collector, reader, run, event: eventOf(wanted), interrupted });
  await report(context, collector, run, followed, options);
  end(followed.run?.status === 'complete' ? 'ok' : 'found');
}

/** The period belongs to --incomplete, which must not go back to the archive's first day because nobody named one. */
function checkIncomplete(command: Command, { incomplete, from, to }: Options): void {
  if (incomplete && from === undefined)
    command.error('error: --incomplete without --from; expected the time since which runs are completed');
  if (!incomplete && (from ?? to) !== undefined)
    command.error('error: --from or --to without --incomplete; of one run, --run is the time');
}

async function report(
  { terminal }: CommandContext,
  collector: DeployedCollector,
  time: Date,
  followed: FollowedRun,
  { json, all }: Options,
): Promise<void> {
  const { run, execution } = followed;
  if (json) return printJson(terminal.out, followedForJson(collector, time, followed));
  if (run !== undefined) await printRun(terminal, run, all === true, ` --archive s3://${collector.archiveBucket}`);
  // The run records say more than the cause of an execution that failed because of its shards.
  if (execution?.cause !== undefined && (run === undefined || execution.status !== 'FAILED'))
    await print(terminal.out, `${execution.status}: ${printable(execution.cause)}\n`);
  if (run?.status === 'complete') return;
  const noRecord =
    `No attempt has left a record. The log of the function ${collector.functionName} says why: ` +
    'it may have refused the event, or was killed.\n';
  const said = run === undefined ? noRecord : '';
  await print(terminal.out, `${said}${whatIsLeft(collector, time, followed)}\n`);
}

/** Waits for the answer of the function: a dry run leaves no record that could be followed. */
async function runDry({ terminal, end, surroundings }: CommandContext, collector: DeployedCollector, options: Options) {
  const interrupted = surroundings.interruption();
  const progress = new Progress(terminal, 'Dry run', { now: 'waiting for the answer of the function' });
  const answering = invokeInAccount(collector, eventOf({ ...options, newRun: terminal.now() }), interrupted);
  const goesOn = 'The dry run goes on in AWS until it ends. It writes nothing.';
  const answer = await endOf(answering, progress, interrupted, goesOn);
  end('error' in answer ? 'found' : 'ok');
  if (options.json) return printJson(terminal.out, 'error' in answer ? { error: answer.error } : answer.payload);
  const text = 'error' in answer ? (answer.error.errorMessage ?? '') : dryRunText(answer.payload);
  await print(terminal.out, `${printableLines(text)}\n`);
}

function dryRunText(payload: unknown): string {
  const { counts } = payload as { counts?: { wouldArchive?: number; doubts?: number } };
  const doubts = formatDoubts(counts?.doubts ?? 0);
  return `Dry run, nothing was written: ${counts?.wouldArchive ?? 0} would be archived, nothing failed${doubts}`;
}

const helpText = `
The stack is found by its name: --stack, or the name in the configuration file. Credentials and region are those of
the environment or of the profile, as for every AWS tool. They have to allow reading the stack, starting its function
or state machine, and reading runs/ and configurations/ in its archive.

Without --run, a new run collects everything now. The function works on its own: Ctrl-C ends only the following.
--dry-run waits for the answer of the function, for up to 15 minutes. If the fleet is divided into shards, it covers
what one invocation can do in that time.

--incomplete completes, of the runs since --from, those that are incomplete. Each takes as long as a run. A run that AWS may
still retry is left alone, and so is one that left no record: both are named, and the exit code is 1.

Exit codes: 0 everything was archived, 1 something was not, 2 wrong command line, 3 it could not be done, 130
interrupted.

Examples:
  npm run collector -- run
  npm run collector -- run --stack my-collector --run 2026-11-20T10:00:00Z
  npm run collector -- run --config prod.json --clusters prod-eu-1,staging-1
  npm run collector -- run --incomplete --from yesterday
  npm run collector -- run --stack my-collector --dry-run
`;
