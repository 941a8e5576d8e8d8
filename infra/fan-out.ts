import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { CallAwsService, LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { Construct } from 'constructs';
import { metricNames, metricNamespace } from '../lambda/stack-contract';
import {
  incompleteRetry,
  invocationTimeoutSeconds,
  longestExecutionSeconds,
  unreachedRetry,
  type Waits,
  waits,
} from '../lambda/time-limits';
import type { CollectorConfig } from './config/config';
import { concurrentShards, heldBackRetry } from './limits';
import { allow } from './policy-statements';
import { addressText, type StackAddress } from './stack-address';

const { Condition, JsonPath } = sfn;
const { and, or, isPresent, isNotPresent, booleanEquals } = Condition;

/** Errors of the function that every attempt at the same event ends with. */
const permanent = ['InvalidEventError', 'RunNotFoundError'];

const throttled = 'Lambda.TooManyRequestsException';

/** Errors of Lambda itself: the function was not reached. */
const unreached = [
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  throttled,
];

/**
 * Works on one run with many invocations of the function, for a fleet that is too large for one. The input of an execution
 * is an event of the function; each shard gets this event with its own `shard`.
 */
export class FanOut extends Construct {
  readonly stateMachine: sfn.IStateMachine;

  /** @param target the function, which works on each shard */
  constructor(scope: Construct, id: string, config: CollectorConfig, address: StackAddress, target: IFunction) {
    super(scope, id);
    const { name, shards, limits } = config;
    const { oneRunAtATime } = limits;
    const heldBackSeconds = oneRunAtATime ? waits(heldBackRetry) : 0;
    const role = this.#createRole(target);
    const definition = this.#divide(shards)
      .next(this.#collectShards(target, config))
      .next(this.#conclude(config, address));
    this.stateMachine = new sfn.StateMachine(this, 'StateMachine', {
      comment: `Collects ${name} in ${shards} shards`,
      definitionBody: sfn.DefinitionBody.fromChainable(definition),
      // Express workflows end after five minutes.
      stateMachineType: sfn.StateMachineType.STANDARD,
      timeout: Duration.seconds(longestExecutionSeconds(shards, heldBackSeconds)),
      // Its tasks would also allow every version and alias of the function.
      role: role.withoutPolicyUpdates(),
    });
    this.stateMachine.node.addDependency(role.node.findChild('DefaultPolicy'));
    Validations.of(this.stateMachine).acknowledge({
      id: 'AwsSolutions-SF1',
      reason:
        'A standard execution keeps its history for 90 days, and run records keep the rest. A log would need rights over all log deliveries of the account.',
    });
    Validations.of(this.stateMachine).acknowledge({
      id: 'AwsSolutions-SF2',
      reason: 'The history has the time of every step of an execution; traces would add nothing.',
    });
  }

  /** Only state machines of this account may assume the role. */
  #createRole(target: IFunction): Role {
    const stack = Stack.of(this);
    const role = new Role(this, 'Role', {
      description: 'Lets the state machine invoke the collector for each shard and count the runs of the schedule',
      assumedBy: new ServicePrincipal('states.amazonaws.com', {
        conditions: {
          StringEquals: { 'aws:SourceAccount': stack.account },
          ArnLike: { 'aws:SourceArn': stack.formatArn({ service: 'states', resource: 'stateMachine:*' }) },
        },
      }),
    });
    const ofRuns = { StringEquals: { 'cloudwatch:namespace': metricNamespace } };
    allow(role, 'CollectShards', ['lambda:InvokeFunction'], [target.functionArn]);
    allow(role, 'CountRuns', ['cloudwatch:PutMetricData'], ['*'], ofRuns);
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'PutMetricData takes no resource; the condition limits it to the namespace of this product.',
    });
    return role;
  }

  /** An input without a time begins a new run, named by the start of the execution. */
  #divide(shards: number): sfn.Chain {
    const nameRun = new sfn.Pass(this, 'Name the run', {
      comment: 'By hand: the run is named by the start of the execution',
      inputPath: '$$.Execution.StartTime',
      resultPath: '$.newRun',
    });
    const divide = new sfn.Pass(this, 'Divide the fleet', {
      parameters: { event: JsonPath.objectAt('$'), indices: Array.from({ length: shards }, (_, index) => index) },
    });
    const refused = new sfn.Fail(this, 'Not for one shard', {
      error: 'InvalidInputError',
      cause: 'The input has a member shard, but an execution works on all shards. Invoke the function for one shard.',
    });
    return new sfn.Choice(this, 'Which run?')
      .when(isPresent('$.shard'), refused)
      .when(or(isPresent('$.scheduledTime'), isPresent('$.newRun'), isPresent('$.run')), divide)
      .otherwise(nameRun.next(divide))
      .afterwards();
  }

  /** A shard that fails is a result and no error of the map, so that it does not stop the other shards. */
  #collectShards(target: IFunction, { shards, limits, clusterList }: CollectorConfig): sfn.Map {
    const index = JsonPath.numberAt('$$.Map.Item.Value');
    const collect = new LambdaInvoke(this, 'Collect', {
      lambdaFunction: target,
      payload: sfn.TaskInput.fromJsonPathAt('States.JsonMerge($.event, $.part, false)'),
      taskTimeout: sfn.Timeout.duration(Duration.seconds(invocationTimeoutSeconds)),
      // The results of 500 shards have to fit into 256 KB.
      resultSelector: { succeeded: index },
      retryOnServiceExceptions: false,
    });
    collect.addRetry({ errors: permanent, maxAttempts: 0 });
    // The function's reserved concurrency refuses what another run still uses.
    if (limits.oneRunAtATime) collect.addRetry({ errors: [throttled], ...retries(heldBackRetry) });
    // Without jitter, which halves the waits: in an account with little concurrency the shards would give up before their turn.
    collect.addRetry({ errors: unreached, ...retries(unreachedRetry) });
    collect.addRetry({ errors: [sfn.Errors.ALL], ...retries(incompleteRetry) });
    // What the function says after it has written its run record, up to the end of its first line, and what that has in
    // brackets, the share that is missing: the causes of 500 shards would not fit.
    const cause = JsonPath.stringAt('$.Cause');
    const partOf = (text: string, separator: string, at: number) =>
      JsonPath.arrayGetItem(JsonPath.stringSplit(text, separator), at);
    const reason = partOf(cause, '\\', 0);
    const missing = partOf(partOf(cause, '(', 1), ')', 0);
    const incomplete = new sfn.Pass(this, 'Incomplete', { parameters: { failed: index, missing, reason } });
    collect.addCatch(incomplete, { errors: ['RunIncompleteError'] });
    if (clusterList !== undefined) {
      const refused = new sfn.Pass(this, 'List refused', { parameters: { failed: index, refused: index, reason } });
      collect.addCatch(refused, { errors: ['ClusterListError'] });
      const none = { failed: index, unrecorded: index, refused: index, reason: JsonPath.stringAt('$.Error') };
      collect.addCatch(new sfn.Pass(this, 'No list', { parameters: none }), { errors: ['NoClusterListError'] });
    }
    const unrecorded = { failed: index, unrecorded: index, reason: JsonPath.stringAt('$.Error') };
    collect.addCatch(new sfn.Pass(this, 'Without a record', { parameters: unrecorded }));
    const map = new sfn.Map(this, 'Collect the shards', {
      itemsPath: '$.indices',
      itemSelector: { event: JsonPath.objectAt('$.event'), part: { shard: { index, count: shards } } },
      maxConcurrency: concurrentShards(shards),
      resultSelector: {
        failed: JsonPath.listAt('$[*].failed'),
        unrecorded: JsonPath.listAt('$[*].unrecorded'),
        refused: JsonPath.listAt('$[*].refused'),
        missing: JsonPath.listAt('$[*].missing'),
        reasons: JsonPath.listAt('$[*].reason'),
      },
      resultPath: '$.shards',
    });
    return map.itemProcessor(collect);
  }

  #conclude({ name, shards, clusterList }: CollectorConfig, address: StackAddress): sfn.IChainable {
    const ofList = clusterList ? ' Nothing is missing of a shard whose list was refused: mend the list.' : '';
    const listed = (member: string) => JsonPath.jsonToString(JsonPath.objectAt(`$.shards.${member}`));
    const fail = new sfn.Fail(this, 'Shards failed', {
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
    const result = new sfn.Choice(this, 'Did all shards succeed?')
      .when(isPresent('$.shards.failed[0]'), fail)
      .otherwise(new sfn.Succeed(this, 'Complete'));
    // Once all shards have written their records, which no single shard knows. If this fails, the alarm about missing runs
    // is raised; the execution still ends by what became of its shards.
    const count = new CallAwsService(this, 'Count the run', {
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
    count.addRetry({ maxAttempts: 3, interval: Duration.seconds(5), backoffRate: 2 });
    count.addCatch(result, { resultPath: JsonPath.DISCARD });
    // As the function has it (lambda/collect/event.ts): a person may name a time of the schedule too, for some clusters.
    const isOfSchedule = and(
      isPresent('$$.Execution.Input.scheduledTime'),
      isNotPresent('$.event.clusters'),
      isNotPresent('$.event.requestId'),
      isNotPresent('$.shards.unrecorded[0]'),
      or(isNotPresent('$.event.dryRun'), booleanEquals('$.event.dryRun', false)),
    );
    return new sfn.Choice(this, 'Has the schedule had its run?')
      .when(isOfSchedule, count.next(result))
      .otherwise(result);
  }
}

function retries({ times, firstWaitSeconds, backoffRate, longestWaitSeconds }: Waits): sfn.RetryProps {
  return {
    interval: Duration.seconds(firstWaitSeconds),
    backoffRate,
    ...(longestWaitSeconds !== undefined && { maxDelay: Duration.seconds(longestWaitSeconds) }),
    maxAttempts: times,
  };
}
