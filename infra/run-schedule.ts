import { Duration, Stack, TimeZone, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { ContextAttribute, Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { CollectorConfig } from './config';
import { deliveryAgeSeconds } from './run-timing';

export interface RunScheduleProps {
  readonly config: CollectorConfig;
  readonly function: IFunction;
}

/** Starts a run at each time of the schedule, and keeps what could not be delivered. */
export class RunSchedule extends Construct {
  readonly deadLetterQueue: Queue;

  constructor(scope: Construct, id: string, { config, function: target }: RunScheduleProps) {
    super(scope, id);
    this.deadLetterQueue = this.createDeadLetterQueue();
    const role = this.createRole();
    role.addToPrincipalPolicy(
      new PolicyStatement({ sid: 'StartRun', actions: ['lambda:InvokeFunction'], resources: [target.functionArn] }),
    );
    role.addToPrincipalPolicy(
      new PolicyStatement({
        sid: 'KeepUndelivered',
        actions: ['sqs:SendMessage'],
        resources: [this.deadLetterQueue.queueArn],
      }),
    );
    const { expression, timeZone, enabled } = config.schedule;
    const schedule = new Schedule(this, 'Schedule', {
      description: `Starts the runs of ${config.name}`,
      schedule: ScheduleExpression.expression(expression, TimeZone.of(timeZone)),
      enabled,
      target: new LambdaInvoke(target, {
        // The time names the run, so that a second delivery of it works on the same run.
        input: ScheduleTargetInput.fromObject({ scheduledTime: ContextAttribute.scheduledTime }),
        maxEventAge: Duration.seconds(deliveryAgeSeconds),
        deadLetterQueue: this.deadLetterQueue,
        // The target would add every version and alias of the function.
        role: role.withoutPolicyUpdates(),
      }),
    });
    // Without its policy the role is of no use yet.
    schedule.node.addDependency(role.node.findChild('DefaultPolicy'));
  }

  /** Only schedules of this account may assume it. */
  private createRole(): Role {
    const { account } = Stack.of(this);
    const group = Stack.of(this).formatArn({
      service: 'scheduler',
      resource: 'schedule-group',
      resourceName: 'default',
    });
    return new Role(this, 'Role', {
      description: 'Lets the schedule start the collector and keep what it could not deliver',
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': account, 'aws:SourceArn': group } },
      }),
    });
  }

  private createDeadLetterQueue(): Queue {
    const queue = new Queue(this, 'Undelivered', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(queue).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'This is the dead-letter queue: nothing consumes it, so nothing could fail to.',
    });
    return queue;
  }
}
