import type { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { IDestination, IFunction } from 'aws-cdk-lib/aws-lambda';
import { LambdaDestination, SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { failureEnvironmentNames } from '../lambda/stack-contract';
import type { Alerts } from './alerts';
import { allow } from './grants';
import { createNodeFunction } from './node-function';
import { createDeadLetterQueue } from './run-schedule';

/**
 * Tells people of each run and each audit that failed for good: a function makes text of what Lambda and EventBridge say as
 * JSON. An alarm alone would publish once, on a change of state: an hourly run that always fails keeps it in ALARM.
 */
export class FailureMessages extends Construct {
  readonly #function: NodejsFunction;
  /** Keeps what could not be told. */
  readonly #untold: IQueue;
  #rule: Rule | undefined;

  /** @param alerts gets the messages */
  constructor(scope: Construct, id: string, name: string, alerts: Alerts) {
    super(scope, id);
    this.#untold = createDeadLetterQueue(this, 'Untold');
    const { function: target } = createNodeFunction(this, {
      // Without a network of its own: it calls SNS only.
      config: { name, network: undefined },
      description: `Tells people what of ${name} failed for good`,
      entry: 'failure-handler.ts',
      memoryMiB: 256,
      roleDescription: 'Lets the function tell people of failures, and keep what it could not tell',
      provide: (role) => {
        alerts.grantPublish(role);
        return { [failureEnvironmentNames.topicArn]: alerts.topic.topicArn };
      },
      onFailure: (role) => {
        allow(role, 'KeepUntold', ['sqs:SendMessage'], [this.#untold.queueArn]);
        return new SqsDestination(this.#untold);
      },
    });
    this.#function = target;
  }

  /** Lets a function's role hand over its failures. Returns where Lambda sends them. */
  destinationFor(role: IRole): IDestination {
    allow(role, 'TellOfFailures', ['lambda:InvokeFunction'], [this.#function.functionArn]);
    return new LambdaDestination(this.#function);
  }

  /**
   * A started execution has no failure destination, because Step Functions invokes the function synchronously. The event goes
   * to the function as it is: EventBridge does not escape what it inserts into a text.
   */
  tellOf(stateMachine: IStateMachine): void {
    this.#rule = new Rule(this, 'FailedExecutions', {
      description: 'Hands over each run in shards that failed',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { stateMachineArn: [stateMachine.stateMachineArn], status: ['FAILED', 'TIMED_OUT'] },
      },
      targets: [new LambdaFunction(this.#function, { deadLetterQueue: this.#untold })],
    });
  }

  /** Counts failures of a function, or of executions, that nobody was told of. */
  untold(from: IFunction, period: Duration): cloudwatch.IMetric {
    const ofRule = this.#rule && {
      failedInvocations: new cloudwatch.Metric({
        namespace: 'AWS/Events',
        metricName: 'FailedInvocations',
        dimensionsMap: { RuleName: this.#rule.ruleName },
        statistic: 'Sum',
        period,
      }),
    };
    const usingMetrics = {
      undelivered: from.metric('DestinationDeliveryFailures', { statistic: 'Sum', period }),
      untold: this.#function.metric('AsyncEventsDropped', { statistic: 'Sum', period }),
      ...ofRule,
    };
    // SUM passes over a metric without data.
    const expression = `SUM([${Object.keys(usingMetrics).join(', ')}])`;
    return new cloudwatch.MathExpression({ expression, usingMetrics, label: 'Messages lost', period });
  }
}
