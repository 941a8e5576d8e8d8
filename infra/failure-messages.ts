import type { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { IDestination, IFunction } from 'aws-cdk-lib/aws-lambda';
import { LambdaDestination, SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { FailureEnvironment } from '../lambda/stack-contract';
import type { Alerts } from './alerts';
import type { CollectorConfig } from './config/config';
import { createNodeFunction } from './node-function';
import { allow } from './policy-statements';

type Metrics = Record<string, cloudwatch.IMetric>;

export interface FailureMessagesProps {
  readonly config: CollectorConfig;
  readonly page: Alerts;
  readonly inform: Alerts;
  /** Keeps the failures that could not be reported. */
  readonly deadLetterQueue: IQueue;
}

/**
 * Reports each run and each audit that failed for good: a function makes text of what Lambda and EventBridge say as JSON. An
 * alarm alone would publish once, on a change of state: an hourly run that always fails keeps it in ALARM.
 */
export class FailureMessages extends Construct {
  readonly function: IFunction;
  readonly #deadLetterQueue: IQueue;
  #rule: Rule | undefined;

  constructor(scope: Construct, id: string, { config, page, inform, deadLetterQueue }: FailureMessagesProps) {
    super(scope, id);
    this.#deadLetterQueue = deadLetterQueue;
    // Gets the runs of which less is missing than pages, and those that a person started.
    const ofRuns = config.alerts.pageFrom === undefined ? page : inform;
    const { function: target } = createNodeFunction(this, {
      config,
      description: `Reports what of ${config.name} failed for good`,
      entry: 'notify/handler.ts',
      memoryMiB: 256,
      roleDescription: 'Lets the function report failures, and keep those that it could not report',
      provide: (role): Omit<FailureEnvironment, 'POWERTOOLS_SERVICE_NAME'> => {
        for (const group of new Set([page, ofRuns])) group.grantPublish(role);
        const { missingPercent = 0 } = config.alerts.pageFrom ?? {};
        return {
          TOPIC_ARN: page.topic.topicArn,
          RUN_TOPIC_ARN: ofRuns.topic.topicArn,
          PAGE_FROM_PERCENT: String(missingPercent),
        };
      },
      onFailure: (role) => {
        allow(role, 'KeepUnreported', ['sqs:SendMessage'], [deadLetterQueue.queueArn]);
        return new SqsDestination(deadLetterQueue);
      },
    });
    this.function = target;
  }

  /** Lets a function's role hand over its failures. Returns where Lambda sends them. */
  destinationFor(role: IRole): IDestination {
    allow(role, 'ReportFailures', ['lambda:InvokeFunction'], [this.function.functionArn]);
    return new LambdaDestination(this.function);
  }

  /**
   * A started execution has no failure destination, because Step Functions invokes the function synchronously. The event goes
   * to the function as it is: EventBridge does not escape what it inserts into a text.
   */
  reportOf(stateMachine: IStateMachine): void {
    this.#rule = new Rule(this, 'FailedExecutions', {
      description: 'Hands over each run in shards that failed',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { stateMachineArn: [stateMachine.stateMachineArn], status: ['FAILED', 'TIMED_OUT'] },
      },
      targets: [new LambdaFunction(this.function, { deadLetterQueue: this.#deadLetterQueue })],
    });
  }

  /**
   * Counts failures of functions, or of executions, that reached neither people nor the dead-letter queue.
   * @param from functions that hand over their failures
   */
  lost(from: Readonly<Record<string, IFunction>>, period: Duration): Metrics {
    const undelivered = Object.entries({ ...from, messages: this.function }).map(
      ([name, target]) => [name, target.metric('DestinationDeliveryFailures', { statistic: 'Sum', period })] as const,
    );
    return { ...Object.fromEntries(undelivered), ...this.#lostExecutions(period) };
  }

  /**
   * Counts what became of runs of which nobody has heard: nobody knows how much is missing of them.
   * @param collector hands over its failures
   */
  unreported(collector: IFunction, period: Duration): Metrics {
    return {
      undelivered: collector.metric('DestinationDeliveryFailures', { statistic: 'Sum', period }),
      unreported: this.function.metric('AsyncEventsDropped', { statistic: 'Sum', period }),
      ...this.#lostExecutions(period),
    };
  }

  #lostExecutions(period: Duration): Metrics {
    return this.#rule === undefined
      ? {}
      : {
          executions: new cloudwatch.Metric({
            namespace: 'AWS/Events',
            metricName: 'FailedInvocations',
            dimensionsMap: { RuleName: this.#rule.ruleName },
            statistic: 'Sum',
            period,
          }),
        };
  }
}
