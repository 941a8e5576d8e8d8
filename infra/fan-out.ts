import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { Construct } from 'constructs';
import { metricNamespace } from '../lambda/stack-contract';
import {
  incompleteRetry,
  invocationTimeoutSeconds,
  longestExecutionSeconds,
  longestTellingSeconds,
  waits,
} from '../lambda/time-limits';
import { concludeRun } from './conclude-run';
import type { CollectorConfig } from './config/config';
import { concurrentShards, heldBackRetry } from './limits';
import { allow } from './policy-statements';
import type { StackAddress } from './stack-address';
import { neverRetryPermanent, retries, retryUnreached, throttled } from './state-retries';

const { Condition, JsonPath } = sfn;
const { or, isPresent } = Condition;

/**
 * Works on one run with many invocations of the function, for a fleet that is too large for one. The input of an execution
 * is an event of the function; each shard gets this event with its own `shard`.
 */
export class FanOut extends Construct {
  readonly stateMachine: sfn.IStateMachine;

  /** @param target the function, which works on each shard */
  constructor(scope: Construct, id: string, config: CollectorConfig, address: StackAddress, target: IFunction) {
    super(scope, id);
    const { name, shards, limits, alerts } = config;
    const { oneRunAtATime } = limits;
    const heldBackSeconds = oneRunAtATime ? waits(heldBackRetry) : 0;
    // A run that is complete must not time out over whom it tells.
    const tellingSeconds = alerts.heartbeat === undefined ? 0 : longestTellingSeconds;
    const role = this.#createRole(target);
    const definition = this.#divide(shards)
      .next(this.#collectShards(target, config))
      .next(concludeRun(this, config, address, target));
    this.stateMachine = new sfn.StateMachine(this, 'StateMachine', {
      comment: `Collects ${name} in ${shards} shards`,
      definitionBody: sfn.DefinitionBody.fromChainable(definition),
      // Express workflows end after five minutes.
      stateMachineType: sfn.StateMachineType.STANDARD,
      timeout: Duration.seconds(longestExecutionSeconds(shards, heldBackSeconds) + tellingSeconds),
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
    neverRetryPermanent(collect);
    // The function's reserved concurrency refuses what another run still uses.
    if (limits.oneRunAtATime) collect.addRetry({ errors: [throttled], ...retries(heldBackRetry) });
    retryUnreached(collect);
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
}
