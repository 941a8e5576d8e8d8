import * as z from 'zod';
import { functionTimeoutSeconds } from '../../archive/format/clocks';
import type { RunSummary } from '../../archive/format/run-record';
import { configurationOf } from '../../infra/configuration-of';
import * as limits from '../../infra/limits';
import { ClusterListError, RunIncompleteError } from '../../lambda/collect/run/run-errors';
import { parseRunEnd } from '../../lambda/run-end-text';
import {
  asynchronousAttempts,
  asynchronousRetryWaits,
  incompleteRetry,
  unreachedRetry,
  waits,
} from '../../lambda/time-limits';
import { exampleConfig } from './example-config';
import { allowedTo, resourceOf, resourcesOf, type TemplateJson, templateOf, textOf } from './example-stack';

/** Step Functions' quota: it ends an execution whose history is longer. */
const mostHistoryEvents = 25_000;

const shardsOf = (shards: number) => templateOf({ shards });
const one = shardsOf(1);
const four = shardsOf(4);
const most = shardsOf(limits.mostShards);
/** With a monitoring service outside. */
const told = (members: object) => templateOf({ ...members, alerts: { heartbeat: { secret: 'monitoring/heartbeat' } } });

const definitionIn = (json: TemplateJson) =>
  textOf(resourceOf(json, 'AWS::StepFunctions::StateMachine').Properties.DefinitionString);
const parsed = (json: TemplateJson) => definitionSchema.parse(JSON.parse(definitionIn(json)));

/** What these tests read of the definition. */
const passSchema = z.object({ Type: z.literal('Pass'), Parameters: z.record(z.string(), z.string()) });
const definitionSchema = z.object({
  TimeoutSeconds: z.number(),
  States: z.object({
    'Collect the shards': z.object({
      MaxConcurrency: z.number(),
      ItemProcessor: z.object({
        States: z.object({
          Collect: z.object({
            TimeoutSeconds: z.number(),
            ResultSelector: z.record(z.string(), z.string()),
            Retry: z.array(
              z.object({
                ErrorEquals: z.array(z.string()),
                IntervalSeconds: z.number().optional(),
                BackoffRate: z.number().optional(),
                MaxAttempts: z.number(),
                JitterStrategy: z.string().optional(),
              }),
            ),
            Catch: z.array(z.object({ Next: z.enum(['Incomplete', 'Without a record']) })),
          }),
          Incomplete: passSchema,
          'Without a record': passSchema,
        }),
      }),
    }),
  }),
});

function collectIn(json: TemplateJson) {
  const map = parsed(json).States['Collect the shards'];
  return { map, task: map.ItemProcessor.States.Collect };
}

/** The last step that tells a monitoring service outside, and where its failure leads. */
function tellingIn(json: TemplateJson) {
  const { States } = JSON.parse(definitionIn(json));
  return { states: States, tell: tellSchema.parse(States['Tell the monitoring service']) };
}

const tellSchema = z.looseObject({
  TimeoutSeconds: z.number(),
  Retry: z.array(z.object({ ErrorEquals: z.array(z.string()), MaxAttempts: z.number() })),
});

/** Events of the history of an execution in which the last step uses all its retries, and what counts its failure too. */
function eventsOfTelling(json: TemplateJson): number {
  const retries = tellingIn(json).tell.Retry.reduce((sum, { MaxAttempts }) => sum + MaxAttempts, 0);
  return 2 + 3 * (1 + retries) + 2 + 3 * 4;
}

describe('with one shard', () => {
  it('the template has no state machine, and the schedule invokes the function', () => {
    expect(JSON.stringify(one)).not.toMatch(/states:|StepFunctions|FanOut|stateMachine/i);
    const { Target } = resourceOf(one, 'AWS::Scheduler::Schedule').Properties as { Target: { Arn: unknown } };
    expect(textOf(Target.Arn)).toBe('<CollectorFunction.Arn>');
    expect(allowedTo(one, 'ScheduleRole')).toEqual([
      'lambda:InvokeFunction <CollectorFunction.Arn>',
      'sqs:SendMessage <DeadLetters.Arn>',
    ]);
  });
});

describe('with more shards', () => {
  it('the schedule starts the state machine, and may do nothing else', () => {
    const { Target } = resourceOf(four, 'AWS::Scheduler::Schedule').Properties as { Target: Record<string, unknown> };
    expect(textOf(Target.Arn)).toBe('<FanOutStateMachine>');
    expect(Target.Input).toBe('{"scheduledTime":"<aws.scheduler.scheduled-time>"}');
    expect(allowedTo(four, 'ScheduleRole')).toEqual([
      'sqs:SendMessage <DeadLetters.Arn>',
      'states:StartExecution <FanOutStateMachine>',
    ]);
  });

  it('the state machine may invoke the function and count runs, and nothing else', () => {
    expect(allowedTo(four, 'FanOutRole')).toEqual([
      'cloudwatch:PutMetricData * if {StringEquals: {cloudwatch:namespace: ClusterLogCollector}}',
      'lambda:InvokeFunction <CollectorFunction.Arn>',
    ]);
  });

  it('the rest of the stack is as with one shard, except for alarms, their messages, dashboard and outputs', () => {
    const types = (json: TemplateJson) =>
      Object.entries(json.Resources)
        .filter(([id]) => !/^(FanOut|FailureMessagesFailedExecutions)/.test(id))
        .map(([id, { Type }]) => `${Type} ${id}`);
    expect(types(four)).toEqual(types(one));
    const unchanged = ['AWS::Lambda::EventInvokeConfig', 'AWS::S3::Bucket', 'AWS::S3::BucketPolicy', 'AWS::SNS::Topic'];
    for (const type of unchanged) expect(resourcesOf(four, type)).toEqual(resourcesOf(one, type));
    expect(allowedTo(four, 'CollectorRole')).toEqual(allowedTo(one, 'CollectorRole'));
  });
});

describe('with more shards and a monitoring service outside', () => {
  const plain = tellingIn(told({ shards: 4 }));

  it('the last step asks the function to tell it, of complete runs of the schedule alone', () => {
    const { states, tell } = plain;
    const { Choices, Default } = states['Did all shards succeed?'];
    const [failed, ofSchedule] = Choices;
    expect([failed.Variable, failed.Next, Default]).toEqual(['$.shards.failed[0]', 'Shards failed', 'Complete']);
    const { And } = states['Has the schedule had its run?'].Choices[0];
    expect(ofSchedule).toEqual({ And, Next: 'Tell the monitoring service' });
    expect(states['Count the run'].Next).toBe('Did all shards succeed?');
    expect(tell).toMatchObject({
      Type: 'Task',
      Parameters: { Payload: { 'scheduledTime.$': '$.event.scheduledTime', heartbeat: { shards: 4 } } },
      ResultPath: null,
      Next: 'Complete',
    });
  });

  it('a failure of it leads to a metric, and to the same end', () => {
    const { states, tell } = plain;
    expect(tell.Catch).toEqual([{ ErrorEquals: ['States.ALL'], ResultPath: null, Next: 'Count the lost heartbeat' }]);
    const lost = states['Count the lost heartbeat'];
    const [{ MetricName, Value }] = lost.Parameters.MetricData;
    expect([MetricName, Value, lost.Next, lost.Catch[0].Next]).toEqual(['HeartbeatsLost', 1, 'Complete', 'Complete']);
    expect(states.Complete).toEqual({ Type: 'Succeed' });
  });

  it('an execution does not time out over it', () => {
    for (const members of [{ shards: 4 }, { shards: 4, limits: { oneRunAtATime: true } }]) {
      const longer = parsed(told(members)).TimeoutSeconds - parsed(templateOf(members)).TimeoutSeconds;
      expect(longer).toBe(plain.tell.TimeoutSeconds + waits(unreachedRetry));
    }
  });

  it('no role gets more by it than the function does with one shard', () => {
    const [inShards, inOne] = [told({ shards: 4 }), told({})];
    expect(allowedTo(inShards, 'FanOutRole')).toEqual(allowedTo(four, 'FanOutRole'));
    expect(allowedTo(inShards, 'CollectorRole')).toEqual(allowedTo(inOne, 'CollectorRole'));
    const readers = resourcesOf(inShards, 'AWS::IAM::Policy').filter(([, policy]) =>
      JSON.stringify(policy).includes('monitoring/heartbeat'),
    );
    expect(readers.map(([id]) => id)).toEqual([expect.stringMatching(/^CollectorRoleDefaultPolicy/)]);
    expect(JSON.stringify(four)).not.toContain('Tell the monitoring service');
  });
});

describe('numbers that belong together', () => {
  it('a shard is retried as often as Lambda retries an event, after the same waits', () => {
    const { task } = collectIn(four);
    const [permanent, unreached, other] = task.Retry;
    expect(permanent?.MaxAttempts).toBe(0);
    // Jitter would halve the waits, and with them the turns that the shards of a small account get.
    expect(unreached?.JitterStrategy).toBeUndefined();
    expect(unreached?.MaxAttempts).toBe(unreachedRetry.times);
    expect(other).toMatchObject({ ErrorEquals: ['States.ALL'], MaxAttempts: asynchronousAttempts - 1 });
    const { firstWaitSeconds, backoffRate } = incompleteRetry;
    expect([firstWaitSeconds, firstWaitSeconds * backoffRate]).toEqual(asynchronousRetryWaits);
  });

  it('an invocation times out after the limit of the function, and an execution after the longest shard', () => {
    const { task } = collectIn(four);
    expect(task.TimeoutSeconds).toBeGreaterThan(functionTimeoutSeconds);
    const shard = 3 * (task.TimeoutSeconds ?? 0) + waits(incompleteRetry) + waits(unreachedRetry);
    expect(parsed(four).TimeoutSeconds).toBeGreaterThan(shard);
    // 40 run at once, so the last of 500 shards begin after twelve turns.
    expect(parsed(most).TimeoutSeconds).toBeGreaterThan(13 * shard);
  });

  it('all shards are under way at once, up to what an inline map guarantees', () => {
    expect(collectIn(four).map.MaxConcurrency).toBe(4);
    expect(collectIn(most).map.MaxConcurrency).toBe(40);
  });

  it('the history of the most shards fits, even if each of them uses all its retries', () => {
    const { task } = collectIn(most);
    const tries = 1 + task.Retry.reduce((sum, { MaxAttempts }) => sum + MaxAttempts, 0);
    // Iteration, task and the state after it are entered and left. Each try is scheduled, started and ended.
    const events = limits.mostShards * (2 + 2 + 2 + 3 * tries) + 20;
    expect(events + eventsOfTelling(told({ shards: limits.mostShards }))).toBeLessThanOrEqual(mostHistoryEvents);
  });

  it('with one run at a time, a shard waits for its turn as long as Lambda keeps an event, and the history still fits', () => {
    const shards = limits.mostShardsInTurn;
    const inTurn = templateOf({ shards, limits: { oneRunAtATime: true } });
    const { task } = collectIn(inTurn);
    const { times, firstWaitSeconds } = limits.heldBackRetry;
    expect(task.Retry.find(({ ErrorEquals }) => ErrorEquals.includes('Lambda.TooManyRequestsException'))).toMatchObject(
      {
        IntervalSeconds: firstWaitSeconds,
        MaxAttempts: times,
        BackoffRate: 1,
      },
    );
    expect(times * firstWaitSeconds).toBe(limits.eventAgeSeconds(true));
    expect(parsed(inTurn).TimeoutSeconds).toBeGreaterThan(3 * limits.eventAgeSeconds(true));
    const tries = 1 + task.Retry.reduce((sum, { MaxAttempts }) => sum + MaxAttempts, 0);
    const events = shards * (2 + 2 + 2 + 3 * tries) + 20;
    const telling = eventsOfTelling(told({ shards, limits: { oneRunAtATime: true } }));
    expect(events + telling).toBeLessThanOrEqual(mostHistoryEvents);
  });

  it('a shard whose list of clusters is refused has written its record', () => {
    const outside = templateOf({ shards: 2, clusters: { from: 's3://inventory/clusters.json' } });
    const catches = [
      { ErrorEquals: ['RunIncompleteError'], Next: 'Incomplete' },
      { ErrorEquals: ['ClusterListError'], Next: 'List refused' },
      { ErrorEquals: ['NoClusterListError'], Next: 'No list' },
      { ErrorEquals: ['States.ALL'], Next: 'Without a record' },
    ];
    expect(definitionIn(outside)).toContain(`"Catch":${JSON.stringify(catches)}`);
  });

  it('only what the schedule asks for counts as its run: all clusters, as they are configured, for good', () => {
    const { States } = JSON.parse(definitionIn(four));
    const [counted] = States['Has the schedule had its run?'].Choices;
    expect(counted.And.map((one: object) => JSON.stringify(one))).toEqual([
      '{"Variable":"$$.Execution.Input.scheduledTime","IsPresent":true}',
      '{"Variable":"$.event.clusters","IsPresent":false}',
      '{"Variable":"$.event.requestId","IsPresent":false}',
      '{"Variable":"$.shards.unrecorded[0]","IsPresent":false}',
      expect.stringContaining('$.event.dryRun'),
    ]);
  });

  it('the shards under way share the request rate of the fleet', () => {
    const rate = (shards: number) =>
      configurationOf(exampleConfig({ shards, limits: { requestsPerSecond: 400 } })).limits.requestsPerSecond;
    expect([1, 4, 40, 500].map(rate)).toEqual([400, 100, 10, 10]);
    expect(configurationOf(exampleConfig({ shards: 4, limits: {} })).limits.requestsPerSecond).toBeUndefined();
  });
});

describe('what Step Functions has to transport', () => {
  const payloadLimit = 256 * 1024;
  const definitionLimit = 1024 * 1024;

  it('fits when all of the most shards fail: the result of each is its index in at most two places, and one line', () => {
    const { States } = parsed(most).States['Collect the shards'].ItemProcessor;
    const results = [States.Collect.ResultSelector, ...States.Collect.Catch.map(({ Next }) => States[Next].Parameters)];
    const index = '$$.Map.Item.Value';
    expect(results).toEqual([
      { 'succeeded.$': index },
      {
        'failed.$': index,
        'missing.$':
          "States.ArrayGetItem(States.StringSplit(States.ArrayGetItem(States.StringSplit($.Cause, '('), 1), ')'), 0)",
        'reason.$': String.raw`States.ArrayGetItem(States.StringSplit($.Cause, '\\'), 0)`,
      },
      { 'failed.$': index, 'unrecorded.$': index, 'reason.$': '$.Error' },
    ]);
    const outcome = { cluster: 'a', resource: 'log', outcome: 'failed', error: 'e'.repeat(1000) } as const;
    const summary = {
      run: '2026-11-20T09:00:00.000Z',
      attempt: 999,
      dryRun: false,
      counts: { failed: 99_999, notAttempted: 99_999, optionalMissing: 99_999 },
    };
    const error = new RunIncompleteError(summary as RunSummary, [outcome], { name: 'a', region: 'eu-central-1' });
    const [reason] = JSON.stringify({ errorType: error.name, errorMessage: error.message }).split('\\');
    expect(reason).toMatch(/; most of all for: e{160}\.$/);
    const list = { from: `s3://b/${'k'.repeat(900)}`, isInForce: false, problem: 'p'.repeat(9999), since: summary.run };
    expect(new ClusterListError(list, summary).message.split('\n')[0]?.length).toBeLessThan(String(reason).length);
    const missing = error.message.split('(')[1]?.split(')')[0] ?? '';
    expect(parseRunEnd(missing)).toEqual({ missing: 199_998, of: 1, isListRefused: false });
    const longest = `${missing.replace('of 1', 'of 999999')}, list refused`;
    const all = Array.from({ length: limits.mostShards }, (_, failed) => ({ failed, missing: longest, reason }));
    expect(JSON.stringify(all).length).toBeLessThan(0.9 * payloadLimit);
    // A cause holds 32 KB: two lists of indices, one of shares, and one reason.
    const lists = [all.map(({ failed }) => failed), all.map(({ failed }) => failed), all.map(({ missing }) => missing)];
    expect(JSON.stringify(lists).length + String(reason).length + 2000).toBeLessThan(32_768);
    expect(definitionIn(most).length).toBeLessThan(definitionLimit / 10);
  });
});
