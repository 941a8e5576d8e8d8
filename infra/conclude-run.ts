import { Duration } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { CallAwsService, LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { metricNames, metricNamespace } from '../lambda/stack-contract';
import { invocationTimeoutSeconds } from '../lambda/time-limits';
import type { CollectorConfig } from './config/config';
import { addressText, type StackAddress } from './stack-address';
import { retryUnreached } from './state-retries';

const { Condition, JsonPath } = sfn;
const { and, or, isPresent, isNotPresent, booleanEquals } = Condition;

/**
 * What the state machine does once each shard has succeeded or failed for good: it counts the run, tells the monitoring
 * service outside if the run is complete, and ends by what became of the shards. The input has the member `shards`.
 */
export function concludeRun(
  scope: Construct,
  config: CollectorConfig,
  address: StackAddress,
  target: IFunction,
): sfn.IChainable {
  // As the function has it (lambda/collect/event.ts): a person may name a time of the schedule too, for some clusters.
  const isOfSchedule = and(
    isPresent('$$.Execution.Input.scheduledTime'),
    isNotPresent('$.event.clusters'),
    isNotPresent('$.event.requestId'),
    isNotPresent('$.shards.unrecorded[0]'),
    or(isNotPresent('$.event.dryRun'), booleanEquals('$.event.dryRun', false)),
  );
  const complete = new sfn.Succeed(scope, 'Complete');
  const result = new sfn.Choice(scope, 'Did all shards succeed?').when(
    isPresent('$.shards.failed[0]'),
    failOver(scope, config, address),
  );
  if (config.alerts.heartbeat !== undefined) result.when(isOfSchedule, tellOutside(scope, config, target, complete));
  result.otherwise(complete);
  // Once all shards have written their records, which no single shard knows. If this fails, the alarm about missing runs
  // is raised; the execution still ends by what became of its shards.
  const count = countOne(scope, 'Count the run', config, metricNames.scheduled, result);
  return new sfn.Choice(scope, 'Has the schedule had its run?').when(isOfSchedule, count).otherwise(result);
}

function failOver(scope: Construct, { shards, clusterList }: CollectorConfig, address: StackAddress): sfn.Fail {
  const ofList = clusterList ? ' Nothing is missing of a shard whose list was refused: mend the list.' : '';
  const listed = (member: string) => JsonPath.jsonToString(JsonPath.objectAt(`$.shards.${member}`));
  return new sfn.Fail(scope, 'Shards failed', {
    error: 'ShardsFailedError',
    causePath: JsonPath.format(
      // The function that reports failures reads its beginning (lambda/notify/lost-run.ts).
      `The shards {} of ${shards} did not succeed; without a record: {}; the list refused: {}; missing of the others: {}. What was collected is archived. The first of them says: {}. All errors are in this execution. Complete the run with npm run collector -- run --stack ${addressText(address)} --run TIME, or with another execution of the same input, which names the time: {}. Not with Redrive, which repeats only this end.${ofList}`,
      listed('failed'),
      listed('unrecorded'),
      listed('refused'),
      listed('missing'),
      JsonPath.arrayGetItem(JsonPath.listAt('$.shards.reasons'), 0),
      JsonPath.jsonToString(JsonPath.objectAt('$.event')),
    ),
  });
}

/**
 * The function tells, because its role may read the address. Whatever comes of it, the run is complete: what did not reach the
 * function is counted here, and what did, by the function itself.
 */
function tellOutside(
  scope: Construct,
  config: CollectorConfig,
  target: IFunction,
  complete: sfn.IChainable,
): sfn.IChainable {
  const tell = new LambdaInvoke(scope, 'Tell the monitoring service', {
    lambdaFunction: target,
    payload: sfn.TaskInput.fromObject({
      scheduledTime: JsonPath.stringAt('$.event.scheduledTime'),
      heartbeat: { shards: config.shards },
    }),
    taskTimeout: sfn.Timeout.duration(Duration.seconds(invocationTimeoutSeconds)),
    retryOnServiceExceptions: false,
    resultPath: JsonPath.DISCARD,
  });
  retryUnreached(tell);
  const lost = countOne(scope, 'Count the lost heartbeat', config, metricNames.heartbeatsLost, complete);
  tell.addCatch(lost, { resultPath: JsonPath.DISCARD });
  return tell.next(complete);
}

/** Puts 1 of a metric to CloudWatch, and goes on, whether it is taken or not. */
function countOne(
  scope: Construct,
  id: string,
  { name }: CollectorConfig,
  metric: string,
  next: sfn.IChainable,
): sfn.IChainable {
  const count = new CallAwsService(scope, id, {
    service: 'cloudwatch',
    action: 'putMetricData',
    iamResources: ['*'],
    parameters: {
      Namespace: metricNamespace,
      MetricData: [
        {
          MetricName: metric,
          Dimensions: [{ Name: 'service', Value: name }],
          Unit: 'Count',
          Value: 1,
        },
      ],
    },
    resultPath: JsonPath.DISCARD,
  });
  count.addRetry({ maxAttempts: 3, interval: Duration.seconds(5), backoffRate: 2 });
  count.addCatch(next, { resultPath: JsonPath.DISCARD });
  return count.next(next);
}
