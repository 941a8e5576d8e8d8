import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, type IStateMachine, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { metricNamespace } from '../lambda/stack-contract';
import { longestExecutionSeconds, waits } from '../lambda/verify/time-limits';
import type { CollectorConfig } from './config/config';
import { fanOutDefinition } from './fan-out-definition';
import { allow } from './grants';
import { heldBackRetry } from './limits';

export interface FanOutProps {
  readonly config: Pick<CollectorConfig, 'name' | 'shards' | 'limits'>;
  readonly function: IFunction;
}

/** Works on one run with many invocations of the function, for a fleet that is too large for one. */
export class FanOut extends Construct {
  readonly stateMachine: IStateMachine;

  constructor(scope: Construct, id: string, { config, function: target }: FanOutProps) {
    super(scope, id);
    const heldBackSeconds = config.limits.oneRunAtATime ? waits(heldBackRetry) : 0;
    const role = this.#createRole(target);
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      comment: `Collects ${config.name} in ${config.shards} shards`,
      definitionBody: DefinitionBody.fromChainable(fanOutDefinition(this, config, target)),
      // Express workflows end after five minutes.
      stateMachineType: StateMachineType.STANDARD,
      timeout: Duration.seconds(longestExecutionSeconds(config.shards, heldBackSeconds)),
      // Its tasks would also allow every version and alias of the function.
      role: role.withoutPolicyUpdates(),
    });
    this.stateMachine.node.addDependency(role.node.findChild('DefaultPolicy'));
    this.#acknowledgeFindings();
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

  #acknowledgeFindings(): void {
    const { stateMachine } = this;
    Validations.of(stateMachine).acknowledge({
      id: 'AwsSolutions-SF1',
      reason:
        'A standard execution keeps its history for 90 days, and run records keep the rest. A log would need rights over all log deliveries of the account.',
    });
    Validations.of(stateMachine).acknowledge({
      id: 'AwsSolutions-SF2',
      reason: 'The history has the time of every step of an execution; traces would add nothing.',
    });
  }
}
