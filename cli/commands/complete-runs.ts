import { openBucket, type Period } from '../../archive/read';
import { asynchronousAttempts, longestRunSeconds } from '../../lambda/time-limits';
import { isAbsent } from '../archive/absent-runs';
import { withTime } from '../archive/open-archive';
import { RunReader } from '../archive/run-reader';
import type { DeployedCollector } from '../stack/find-stack';
import { eventOf, type RunMembers } from '../stack/run-in-account';
import { formatCount, formatTime } from '../terminal/format';
import { printRunHead } from '../terminal/print-run';
import { type CommandContext, InterruptedError, print, printJsonArray } from '../terminal/terminal';
import { followedForJson, startAndFollow, whatIsLeft } from './follow-start';
import { printRemarks } from './print-findings';

interface Options extends Period, Pick<RunMembers, 'clusters' | 'requestId'> {
  readonly json?: boolean;
}

/** The runs of a period that can be completed, and what is said of the others. */
interface FoundRuns {
  readonly incomplete: readonly Date[];
  /** Lines of it; whatever it is, not all of the period is complete. */
  readonly others: readonly string[];
}

/**
 * Completes the incomplete runs of a period one after the other, the oldest first, and prints what became of each.
 * @throws ArchiveReadError, AwsAccessError; InterruptedError, which says what goes on and what was not begun
 */
export async function completeRuns(
  context: CommandContext,
  collector: DeployedCollector,
  options: Options,
): Promise<void> {
  const { terminal, end, surroundings } = context;
  const reader = await openBucket(collector.archiveBucket, collector.region);
  const runs = new RunReader(await withTime(reader, terminal));
  const { incomplete, others } = await find(runs, options);
  end(await printRemarks(terminal, runs.remarks));
  if (others.length > 0) end('found');
  const isWhole = incomplete.length + others.length === 0;
  const can = isWhole ? 'all are complete' : `${incomplete.length} can be completed`;
  const looked = runs.runs === 0 ? 'No run lies in this period' : `Looked at ${runs.span}: ${can}`;
  await print(terminal.err, `${[`${looked}.`, ...others].join('\n')}\n`);
  if (incomplete.length > 0)
    await print(
      terminal.err,
      'What is archived now is what the service answers now, under the time of its run: today\'s log under yesterday\'s time. "fetched-at" of each object says when it was read.\n',
    );
  const interrupted = surroundings.interruption();
  async function* completed() {
    for (const [at, run] of incomplete.entries()) {
      if (interrupted.aborted) throw new InterruptedError(notBegun(incomplete.length - at));
      const more = incomplete.length - at - 1;
      const undone = more === 0 ? '' : `\n${notBegun(more)}`;
      const event = eventOf({ ...options, run, newRun: run });
      const followed = await startAndFollow(context, { collector, reader, run, event, interrupted, undone });
      if (followed.run?.status !== 'complete') end('found');
      yield { run, followed };
    }
  }
  if (options.json) {
    const elements = async function* () {
      for await (const { run, followed } of completed()) yield followedForJson(collector, run, followed);
    };
    return printJsonArray(terminal.out, elements());
  }
  for await (const { run, followed } of completed()) {
    if (followed.run !== undefined) await printRunHead(terminal, followed.run);
    if (followed.run?.status !== 'complete') await print(terminal.out, `${whatIsLeft(collector, run, followed)}\n`);
  }
}

/** What an interruption leaves undone. */
function notBegun(runs: number): string {
  return `Not begun: ${formatCount(runs, 'run')} of this period; the same command goes on with what is incomplete then`;
}

async function find(runs: RunReader, { from, to }: Period): Promise<FoundRuns> {
  const incomplete: Date[] = [];
  const others: string[] = [];
  const retriedFrom = runs.now.getTime() - longestRunSeconds * 1000;
  for await (const row of runs.select({ from, to })) {
    if (isAbsent(row) || row.status === 'complete') continue;
    // Beside its own retries, it would ask the service twice for everything.
    if (row.run.getTime() > retriedFrom && row.attempts < asynchronousAttempts)
      others.push(`Left alone: ${formatTime(row.run)} may still be retried by AWS.`);
    else incomplete.push(row.run);
  }
  const absent = runs.absentText;
  if (absent !== undefined)
    others.push(
      `Left alone: ${absent}. Of each, run --run TIME --without-record collects what the service answers now.`,
    );
  return { incomplete, others };
}
