import { Duration } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { CallAwsService, LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { metricNames, metricNamespace } from '../lambda/stack-contract';
import { incompleteRetry, invocationTimeoutSeconds, unreachedRetry } from '../lambda/verify/time-limits';
import type { CollectorConfig } from './config/config';
import { concurrentShards, heldBackRetry } from './limits';

const { JsonPath } = sfn;

/** Error of an execution in which a shard did not succeed. */
const shardsFailed = 'ShardsFailedError';

/** The function's error after it has written its run record. */
const incomplete = 'RunIncompleteError';

/** Errors of the function that every attempt at the same event ends with. */
const permanent = ['InvalidEventError', 'RunNotFoundError'];

/** Errors of Lambda itself: the function was not reached. */
const unreached = [
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.TooManyRequestsException',
];

/**
 * The state machine's definition. Its input is an event of the function; each shard gets this event with its own `shard`.
 * An input without a time begins a new run, named by the start of the execution.
 */
export function fanOutDefinition(
  scope: Construct,
  { name, shards, limits }: Pick<CollectorConfig, 'name' | 'shards' | 'limits'>,
  target: IFunction,
): sfn.IChainable {
  const nameRun = new sfn.Pass(scope, 'Name the run', {
    comment: 'By hand: the run is named by the start of the execution',
    inputPath: '$$.Execution.StartTime',
    resultPath: '$.newRun',
  });
  const divide = new sfn.Pass(scope, 'Divide the fleet', {
    parameters: { event: JsonPath.objectAt('$'), indices: Array.from({ length: shards }, (_, index) => index) },
  });
  const isPresent = sfn.Condition.isPresent;
  return new sfn.Choice(scope, 'Which run?')
    .when(
      isPresent('$.shard'),
      new sfn.Fail(scope, 'Not for one shard', {
        error: 'InvalidInputError',
        cause: 'The input has a member shard, but an execution works on all shards. Invoke the function for one shard.',
      }),
    )
    .when(sfn.Condition.or(isPresent('$.scheduledTime'), isPresent('$.newRun'), isPresent('$.run')), divide)
    .otherwise(nameRun.next(divide))
    .afterwards()
    .next(collectShards(scope, shards, limits, target))
    .next(conclusion(scope, name, shards));
}

/** A shard that fails is a result and no error of the map, so that it does not stop the other shards. */
function collectShards(
  scope: Construct,
  shards: number,
  { oneRunAtATime }: Pick<CollectorConfig['limits'], 'oneRunAtATime'>,
  target: IFunction,
): sfn.Map {
  const index = JsonPath.numberAt('$$.Map.Item.Value');
  const collect = new LambdaInvoke(scope, 'Collect', {
    lambdaFunction: target,
    payload: sfn.TaskInput.fromJsonPathAt('States.JsonMerge($.event, $.part, false)'),
    taskTimeout: sfn.Timeout.duration(Duration.seconds(invocationTimeoutSeconds)),
    // The results of 500 shards have to fit into 256 KB.
    resultSelector: { succeeded: index },
    retryOnServiceExceptions: false,
  });
  collect.addRetry({ errors: permanent, maxAttempts: 0 });
  // The function's reserved concurrency refuses what another run still uses.
  if (oneRunAtATime)
    collect.addRetry({
      errors: ['Lambda.TooManyRequestsException'],
      interval: Duration.seconds(heldBackRetry.firstWaitSeconds),
      backoffRate: heldBackRetry.backoffRate,
      maxAttempts: heldBackRetry.times,
    });
  collect.addRetry({
    errors: unreached,
    interval: Duration.seconds(unreachedRetry.firstWaitSeconds),
    backoffRate: unreachedRetry.backoffRate,
    maxDelay: Duration.seconds(unreachedRetry.longestWaitSeconds),
    maxAttempts: unreachedRetry.times,
    jitterStrategy: sfn.JitterType.FULL,
  });
  collect.addRetry({
    errors: [sfn.Errors.ALL],
    interval: Duration.seconds(incompleteRetry.firstWaitSeconds),
    backoffRate: incompleteRetry.backoffRate,
    maxAttempts: incompleteRetry.times,
  });
  collect.addCatch(new sfn.Pass(scope, 'Incomplete', { parameters: { failed: index } }), { errors: [incomplete] });
  collect.addCatch(new sfn.Pass(scope, 'Without a record', { parameters: { failed: index, unrecorded: index } }));
  const map = new sfn.Map(scope, 'Collect the shards', {
    itemsPath: '$.indices',
    itemSelector: { event: JsonPath.objectAt('$.event'), part: { shard: { index, count: shards } } },
    maxConcurrency: concurrentShards(shards),
    resultSelector: { failed: JsonPath.listAt('$[*].failed'), unrecorded: JsonPath.listAt('$[*].unrecorded') },
    resultPath: '$.shards',
  });
  return map.itemProcessor(collect);
}

function conclusion(scope: Construct, name: string, shards: number): sfn.IChainable {
  const { and, or, isPresent, isNotPresent, booleanEquals } = sfn.Condition;
  const fail = new sfn.Fail(scope, 'Shards failed', {
    error: shardsFailed,
    causePath: JsonPath.format(
      `The shards {} of ${shards} did not succeed; what the others collected is archived. Their errors are in this execution. Complete the run with npm run collector -- run --stack ${name} --run TIME, or with another execution of the same input, which names the time: {}. Not with Redrive, which repeats only this end.`,
      JsonPath.jsonToString(JsonPath.objectAt('$.shards.failed')),
      JsonPath.jsonToString(JsonPath.objectAt('$.event')),
    ),
  });
  const result = new sfn.Choice(scope, 'Did all shards succeed?')
    .when(isPresent('$.shards.failed[0]'), fail)
    .otherwise(new sfn.Succeed(scope, 'Complete'));
  const count = countRun(scope, name);
  count.addCatch(result, { resultPath: JsonPath.DISCARD });
  return new sfn.Choice(scope, 'Has the schedule had its run?')
    .when(
      and(
        isPresent('$$.Execution.Input.scheduledTime'),
        isNotPresent('$.shards.unrecorded[0]'),
        or(isNotPresent('$.event.dryRun'), booleanEquals('$.event.dryRun', false)),
      ),
      count.next(result),
    )
    .otherwise(result);
}

/**
 * Counts the run once all shards have written their records, which no single shard knows. If this fails, the alarm about
 * missing runs is raised; the execution still ends by what became of its shards.
 */
function countRun(scope: Construct, name: string): CallAwsService {
  const task = new CallAwsService(scope, 'Count the run', {
    service: 'cloudwatch',
    action: 'putMetricData',
    iamResources: ['*'],
    parameters: {
      Namespace: metricNamespace,
      MetricData: [
        {
          MetricName: metricNames.scheduled,
          Dimensions: [{ Name: 'service', Value: name }],
          Unit: 'Count',
          Value: 1,
        },
      ],
    },
    resultPath: JsonPath.DISCARD,
  });
  task.addRetry({ maxAttempts: 3, interval: Duration.seconds(5), backoffRate: 2 });
  return task;
}
