import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { RunSummary } from '../lambda/run/run-record';
import { environmentNames, logMessages, metricNames } from '../lambda/stack-contract';
import type { InvocationResult } from '../local/deployment/local-function';
import { startLocalCollector, uids } from '../test/end-to-end/local-collector';
import type { LambdaRuntime } from './install-runtime';
import { type LogEvents, readLogEvents } from './log-events';
import { startRuntimeProcess } from './runtime-process';
import { step } from './step';

const noon = '2026-11-20T12:00:00.000Z';

/**
 * Runs the real bundle, as its template configures it, in the Node and the runtime interface client of the function's
 * runtime, against the embedded endpoint and the demo service.
 * @throws AssertionError for whatever is not as it has to be
 */
export async function runUnderRuntime(runtime: LambdaRuntime): Promise<void> {
  await archiveAndFail(runtime);
  await failToStart(runtime);
  await compressWithZstd(runtime);
}

async function archiveAndFail(runtime: LambdaRuntime): Promise<void> {
  const collector = await startLocalCollector();
  const deployed = await collector.deploy();
  const lambda = await startRuntimeProcess(runtime, deployed);
  try {
    const answers: InvocationResult[] = [];
    const invoke = async (event: object): Promise<InvocationResult> => {
      const result = await lambda.invoke(event);
      answers.push(result);
      return result;
    };
    /** What the local deployment stands in for; the stacks of both runtimes differ. */
    const sameLocally = async (event: object, { error }: InvocationResult): Promise<void> => {
      const { trace: _, ...local } = (await deployed.invoke(event)).error ?? {};
      assert.deepEqual({ errorType: error?.errorType, errorMessage: error?.errorMessage }, local);
    };

    await step('an invocation archives everything and answers with the counts', async () => {
      expectComplete(await invoke({ scheduledTime: noon }));
      assert.equal((await deployed.keys()).length, uids.length * 2 + 1);
    });
    collector.failing.beta = 'other-cluster';
    await step('a run that is not complete fails with what, why and where in the sources', async () => {
      const { error } = await invoke({});
      assert.equal(error?.errorType, 'RunIncompleteError');
      assert.match(error.errorMessage, /1 of 6 not archived.*\n- log of cluster beta: .*"not-beta".*s3:\/\//s);
      assert.match(error.trace?.join('\n') ?? '', /lambda\/attempt-run\.ts:\d+/);
    });
    await step('the local deployment fails with the same type and message', async () => {
      const event = { dryRun: true, scheduledTime: noon };
      await sameLocally(event, await invoke(event));
    });
    await step('so it does for an event that is refused', async () => {
      const result = await invoke({ dryrun: 1 });
      assert.equal(result.error?.errorType, 'InvalidEventError');
      await sameLocally({ dryrun: 1 }, result);
    });

    const output = await lambda.stop();
    const events = await step('every log line is one JSON event that Lambda understands', () => readLogEvents(output));
    await step('the lines and metrics of each invocation are there, unwrapped', () => expectLog(events, answers));
    await step('the API key is in no log line and no answer', () => {
      const everything = JSON.stringify([output, answers]);
      assert.ok(everything.includes('not-beta'));
      assert.ok(!everything.includes(collector.key));
    });
  } finally {
    await lambda.stop();
    await collector.close();
  }
}

function expectComplete({ payload, error }: InvocationResult): void {
  assert.equal(error, undefined, error?.errorMessage);
  const { counts } = payload as RunSummary;
  assert.deepEqual(counts, { archived: uids.length * 2, alreadyArchived: 0, failed: 0, notAttempted: 0 });
}

/** Of a run that is green, one with a failure, a dry run with a failure, and an event that is refused. */
function expectLog({ metrics, lines, errors }: LogEvents, answers: readonly InvocationResult[]): void {
  const ids = answers.map(({ requestId }) => requestId);
  const told = lines.map(({ function_request_id: id, level, message }) => [ids.indexOf(id), level, message]);
  assert.deepEqual(told.toSorted(), [
    [0, 'INFO', logMessages.run],
    [1, 'ERROR', logMessages.failure],
    [1, 'WARN', logMessages.run],
    [2, 'ERROR', logMessages.failure],
    [2, 'WARN', logMessages.run],
  ]);
  assert.deepEqual(
    metrics.map((values) => [values[metricNames.archived], values[metricNames.failed], values[metricNames.scheduled]]),
    [
      [6, 0, 1],
      [5, 1, 0],
    ],
  );
  assert.deepEqual(
    errors.map(({ requestId, message }) => [ids.indexOf(requestId), message.name, message.errorMessage]),
    answers.flatMap(({ error }, index) => (error ? [[index, error.errorType, error.errorMessage]] : [])),
  );
}

async function failToStart(runtime: LambdaRuntime): Promise<void> {
  const collector = await startLocalCollector();
  const withoutBucket = { [environmentNames.archiveBucket]: undefined };
  const lambda = await startRuntimeProcess(runtime, await collector.deploy(), withoutBucket);
  try {
    await step('a function that cannot start says why', async () => {
      const { errorType, errorMessage } = await lambda.initError;
      assert.equal(errorType, 'SettingsError');
      assert.match(errorMessage, /ARCHIVE_BUCKET not set/);
    });
  } finally {
    await lambda.stop();
    await collector.close();
  }
}

async function compressWithZstd(runtime: LambdaRuntime): Promise<void> {
  const collector = await startLocalCollector({ archive: { compression: 'zstd' } });
  const deployed = await collector.deploy();
  const lambda = await startRuntimeProcess(runtime, deployed);
  try {
    await step('zstd archives everything too', async () => {
      expectComplete(await lambda.invoke({ scheduledTime: noon }));
      const objects = (await deployed.keys()).filter((key) => !key.startsWith('runs/'));
      assert.ok(objects.every((key) => key.endsWith('.zst')));
    });
    await step('and `collector verify` finds every object of it whole', () => {
      const root = join(__dirname, '..');
      const args = ['--import', 'tsx', join('cli', 'collector.ts'), 'verify', '--archive', deployed.folder];
      const { status, stdout, stderr } = spawnSync(runtime.node, args, { cwd: root, encoding: 'utf8' });
      assert.equal(status, 0, `${stdout}${stderr}`);
      assert.match(stdout, /\b6\b/);
    });
  } finally {
    await lambda.stop();
    await collector.close();
  }
}
