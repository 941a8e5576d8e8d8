import { resourceNames } from '../../archive/format/resources';
import type { RunSummary } from '../../archive/format/run-record';
import { logMessages, metricNames } from '../../lambda/stack-contract';
import type { InvocationResult } from '../../local/deployment/execution-environment';
import { type DeployedCollector, LocalCollector, uids } from '../end-to-end/local-collector';
import { installRuntime, type LambdaRuntime, RuntimeUnavailableError } from './install-runtime';
import { type LogEvents, readLogEvents } from './log-events';
import { type RuntimeOutput, type RuntimeProcess, startRuntimeProcess } from './runtime-process';

const noon = '2026-11-20T12:00:00.000Z';
/** Objects of a complete run. */
const all = uids.length * resourceNames.length;
const runtime = tryToInstall();

if (runtime instanceof RuntimeUnavailableError) {
  it.skip(`the bundle under Lambda's own runtime client (skipped: ${runtime.message})`, () => {});
} else {
  describeRuntime(runtime);
}

function tryToInstall(): LambdaRuntime | RuntimeUnavailableError {
  try {
    return installRuntime();
  } catch (error) {
    if (error instanceof RuntimeUnavailableError) return error;
    throw error;
  }
}

/**
 * The real bundle, as its template configures it, under the Node and the runtime interface client of the function's
 * runtime, with the embedded endpoint and the demo service.
 */
function describeRuntime(runtime: LambdaRuntime): void {
  describe("the bundle under Lambda's own runtime client", () => {
    afterAll(() => runtime.remove());

    describe('with gzip', () => describeGzip(runtime));

    it('says why it cannot start', async () => {
      const collector = await new LocalCollector().start();
      const withoutBucket = { ARCHIVE_BUCKET: undefined };
      const lambda = await startRuntimeProcess(runtime, await collector.deploy(), withoutBucket);
      try {
        const { errorType, errorMessage } = await lambda.initError;
        expect(errorType).toBe('SettingsError');
        expect(errorMessage).toMatch(/ARCHIVE_BUCKET not set/);
      } finally {
        await lambda.stop();
        await collector.close();
      }
    });
  });
}

/** The tests build on each other, in this order. */
function describeGzip(runtime: LambdaRuntime): void {
  let collector: LocalCollector;
  let deployed: DeployedCollector;
  let lambda: RuntimeProcess;
  let output: RuntimeOutput;
  let events: LogEvents;
  const answers: InvocationResult[] = [];

  beforeAll(async () => {
    collector = await new LocalCollector().start();
    deployed = await collector.deploy({ hasSourceMaps: true });
    lambda = await startRuntimeProcess(runtime, deployed);
  });

  afterAll(async () => {
    await lambda?.stop();
    await collector?.close();
  });

  async function invoke(event: object): Promise<InvocationResult> {
    const result = await lambda.invoke(event);
    answers.push(result);
    return result;
  }

  /** Compares with the local deployment's error, except for the stack: the two runtimes have different frames. */
  async function expectSameErrorLocally(event: object, { error }: InvocationResult): Promise<void> {
    const { trace: _, ...local } = (await deployed.invoke(event)).error ?? {};
    expect({ errorType: error?.errorType, errorMessage: error?.errorMessage }).toEqual(local);
  }

  it('archives everything and answers with the counts', async () => {
    expectComplete(await invoke({ scheduledTime: noon }));
    // The run record and the configuration.
    expect(await deployed.keys()).toHaveLength(all + 2);
  });

  it('fails an incomplete run, with what failed, why, and where in the sources', async () => {
    collector.failing.beta = 'other-cluster';
    const { error } = await invoke({});
    expect(error?.errorType).toBe('RunIncompleteError');
    expect(error?.errorMessage).toMatch(/\n- log of cluster beta: .*"not-beta".*s3:\/\//s);
    expect(error?.errorMessage).toContain(`1 of ${all} not archived`);
    expect(error?.trace?.join('\n')).toMatch(/lambda\/collect\/run\/attempt-run\.ts:\d+/);
  });

  it('fails with the type and message of the local deployment', async () => {
    const event = { dryRun: true, scheduledTime: noon };
    await expectSameErrorLocally(event, await invoke(event));
  });

  it('refuses an event with the type and message of the local deployment', async () => {
    const result = await invoke({ dryrun: 1 });
    expect(result.error?.errorType).toBe('InvalidEventError');
    await expectSameErrorLocally({ dryrun: 1 }, result);
  });

  it('writes log lines that are one JSON event each, as Lambda and CloudWatch expect them', async () => {
    output = await lambda.stop();
    events = readLogEvents(output);
  });

  it('writes the lines and metrics of each invocation, unwrapped', () => expectLog(events, answers));

  it('writes the API key into no log line and no answer', () => {
    const everything = JSON.stringify([output, answers]);
    expect(everything).toContain('not-beta');
    expect(everything).not.toContain(collector.key);
  });
}

function expectComplete({ payload, error }: InvocationResult): void {
  expect(error).toBeUndefined();
  const { counts } = payload as RunSummary;
  expect(counts).toEqual({ archived: all, alreadyArchived: 0, failed: 0, notAttempted: 0 });
}

/** Expects the log of a complete run, an incomplete run, an incomplete dry run, and a refused event. */
function expectLog({ metrics, lines, errors }: LogEvents, answers: readonly InvocationResult[]): void {
  const ids = answers.map(({ requestId }) => requestId);
  const written = lines.map(({ function_request_id: id, level, message }) => [ids.indexOf(id), level, message]);
  expect(written.toSorted()).toEqual([
    [0, 'INFO', logMessages.run],
    [1, 'ERROR', logMessages.failure],
    // The manifest beside the log of another cluster.
    [1, 'WARN', logMessages.doubt],
    [1, 'WARN', logMessages.run],
    [2, 'ERROR', logMessages.failure],
    ...Array.from({ length: all - 2 }, () => [2, 'INFO', logMessages.wouldArchive]),
    [2, 'WARN', logMessages.doubt],
    [2, 'WARN', logMessages.run],
  ]);
  expect(
    metrics.map((values) => [values[metricNames.archived], values[metricNames.failed], values[metricNames.scheduled]]),
  ).toEqual([
    [all, 0, 1],
    [all - 1, 1, 0],
  ]);
  expect(errors.map(({ requestId, message }) => [ids.indexOf(requestId), message.name, message.errorMessage])).toEqual(
    answers.flatMap(({ error }, index) => (error ? [[index, error.errorType, error.errorMessage]] : [])),
  );
}
