import { Duration, Stack, TimeZone } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { ContextAttribute, Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import {
  LambdaInvoke,
  type ScheduleTargetBaseProps,
  StepFunctionsStartExecution,
} from 'aws-cdk-lib/aws-scheduler-targets';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { type Gap, longestGap } from '../archive/format/schedule/cron-gap';
import type { CollectorConfig } from './config/config';
import { deliveryAgeSeconds } from './limits';
import { allow } from './policy-statements';

export interface RunScheduleProps {
  readonly description: string;
  readonly roleDescription: string;
  readonly schedule: CollectorConfig['schedule'];
  readonly function: IFunction;
  /** Further members of the event. */
  readonly marks?: Readonly<Record<string, unknown>>;
  /** Started in place of the function if the fleet has shards. */
  readonly stateMachine?: IStateMachine | undefined;
  /** Receives what the scheduler could not start. */
  readonly deadLetterQueue: IQueue;
}

/** Starts a run or an audit at each time of a schedule, and keeps the events that could not be delivered. */
export class RunSchedule extends Construct {
  /** The longest between two of its times. */
  readonly gap: Gap;

  constructor(scope: Construct, id: string, props: RunScheduleProps) {
    super(scope, id);
    const { function: target, stateMachine, deadLetterQueue } = props;
    const stack = Stack.of(this);
    const group = stack.formatArn({ service: 'scheduler', resource: 'schedule-group', resourceName: 'default' });
    const role = new Role(this, 'Role', {
      description: props.roleDescription,
      // Only schedules of this account may assume it.
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': stack.account, 'aws:SourceArn': group } },
      }),
    });
    if (stateMachine === undefined) allow(role, 'StartRun', ['lambda:InvokeFunction'], [target.functionArn]);
    else allow(role, 'StartRun', ['states:StartExecution'], [stateMachine.stateMachineArn]);
    allow(role, 'KeepUndelivered', ['sqs:SendMessage'], [deadLetterQueue.queueArn]);
    const delivery: ScheduleTargetBaseProps = {
      // The time names what is started, so a second delivery works on the same run or audit.
      input: ScheduleTargetInput.fromObject({ scheduledTime: ContextAttribute.scheduledTime, ...props.marks }),
      maxEventAge: Duration.seconds(deliveryAgeSeconds),
      deadLetterQueue,
      // The target would also allow every version and alias of the function.
      role: role.withoutPolicyUpdates(),
    };
    const { expression, timeZone, enabled } = props.schedule;
    this.gap = longestGap(expression, timeZone, new Date());
    const schedule = new Schedule(this, 'Schedule', {
      description: props.description,
      schedule: ScheduleExpression.expression(expression, TimeZone.of(timeZone)),
      enabled,
      target:
        stateMachine === undefined
          ? new LambdaInvoke(target, delivery)
          : new StepFunctionsStartExecution(stateMachine, delivery),
    });
    // A role without its policy could not start the first run.
    schedule.node.addDependency(role.node.findChild('DefaultPolicy'));
  }
}
