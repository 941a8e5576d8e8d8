import type { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { metricNames, metricNamespace } from '../lambda/stack-contract';
import { executionMarginHours, missingMarginHours } from './alarm-windows';
import type { FanOut } from './fan-out';
import { functionRuns, type RunQuery, shardRuns } from './log-queries';

/** The words that alarms use about the runs of one source. */
export interface RunTexts {
  /** Whose record shows that a run took place. */
  readonly records: string;
  readonly whenFailed: { readonly look: string; readonly act: string };
  /** What gives a run more time, as an infinitive. */
  readonly moreTime: string;
}

/** What works on a run of the schedule, as alarms and dashboard see it. */
export abstract class RunSource {
  /** The stack's name, the one dimension of the metrics. */
  protected readonly service: string;

  constructor(service: string) {
    this.service = service;
  }

  /** Hours from a firing of the schedule until its run has ended and its metrics are there. */
  abstract readonly marginHours: number;
  abstract readonly texts: RunTexts;
  /** The log query that makes one row of each run. */
  abstract readonly query: RunQuery;
  /** Counts the runs that nothing will retry any more. */
  abstract failedRuns(period: Duration): cloudwatch.IMetric;
  /** Publishes a message about each failed run, if nothing else does. */
  abstract publishFailures(scope: Construct, topic: ITopic): void;
  /** What the dashboard shows of this source alone. */
  abstract widgets(period: Duration, shape: cloudwatch.GraphWidgetProps): cloudwatch.IWidget[];

  /** One of the metrics that runs emit, summed up unless the options say otherwise. */
  metric(name: keyof typeof metricNames, options: cloudwatch.MetricOptions = {}): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: metricNamespace,
      metricName: metricNames[name],
      dimensionsMap: { service: this.service },
      statistic: 'Sum',
      ...options,
    });
  }
}

/** A run is one invocation of the function, with its retries. */
export class FunctionRuns extends RunSource {
  readonly marginHours = missingMarginHours;
  readonly texts: RunTexts = {
    records: 'its record',
    whenFailed: {
      look: 'The message with the error on this topic, the failures on the dashboard, the run record it names.',
      act: 'Mend the cause, then complete the run with the command in the message, or by hand with the event {"run": "<time>"}.',
    },
    moreTime: 'set shards',
  };
  readonly query = functionRuns;
  readonly #collector: IFunction;

  constructor(service: string, collector: IFunction) {
    super(service);
    this.#collector = collector;
  }

  /** Errors would count attempts that a retry repairs; Lambda drops an event after its last attempt. */
  failedRuns(period: Duration): cloudwatch.IMetric {
    return droppedEvents(this.#collector, period);
  }

  /** Lambda does, as the function's failure destination. */
  publishFailures(): void {}

  widgets(): cloudwatch.IWidget[] {
    return [];
  }
}

/** A run is one execution of the state machine, which invokes the function for each shard. */
export class ExecutionRuns extends RunSource {
  readonly marginHours: number;
  readonly texts: RunTexts = {
    records: 'the records of all its shards',
    whenFailed: {
      look: 'The failed execution of the state machine, whose cause names the shards; the failures on the dashboard.',
      act: 'Mend the cause, then complete the run with the command in the cause, or with another execution of the same input.',
    },
    moreTime: 'raise shards',
  };
  readonly query: RunQuery;
  readonly #collector: IFunction;
  readonly #stateMachine: FanOut['stateMachine'];

  constructor(
    service: string,
    collector: IFunction,
    { stateMachine, longestSeconds, shards }: Pick<FanOut, 'stateMachine' | 'longestSeconds' | 'shards'>,
  ) {
    super(service);
    this.#collector = collector;
    this.#stateMachine = stateMachine;
    this.marginHours = executionMarginHours(longestSeconds);
    this.query = shardRuns(shards);
  }

  failedRuns(period: Duration): cloudwatch.IMetric {
    return new cloudwatch.MathExpression({
      // Events are dropped only after a start of the function by hand. SUM passes over a metric without data.
      expression: 'SUM([dropped, failed, timedOut])',
      usingMetrics: {
        dropped: droppedEvents(this.#collector, period),
        failed: this.#stateMachine.metricFailed({ period }),
        timedOut: this.#stateMachine.metricTimedOut({ period }),
      },
      label: 'Runs failed for good',
      period,
    });
  }

  /**
   * An alarm alone would publish once: it does so on a change of state only, and an hourly run that always fails keeps it
   * in ALARM. A started execution has no failure destination, because Step Functions invokes the function synchronously.
   */
  publishFailures(scope: Construct, topic: ITopic): void {
    const { name, status, cause } = { name: '$.detail.name', status: '$.detail.status', cause: '$.detail.cause' };
    const lines = [
      `${this.service}: an execution of the state machine ended with ${EventField.fromPath(status)}.`,
      `Execution: ${EventField.fromPath(name)}`,
      `Cause: ${EventField.fromPath(cause)}`,
      'More: docs/operations.md, "Run failed for good".',
    ];
    const input = RuleTargetInput.fromMultilineText(lines.join('\n'));
    new Rule(scope, 'FailedExecutions', {
      description: `Publishes a message about each failed run of ${this.service}`,
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { stateMachineArn: [this.#stateMachine.stateMachineArn], status: ['FAILED', 'TIMED_OUT'] },
      },
      // Alerts allows it to publish, for an existing topic too.
      targets: [{ bind: () => ({ arn: topic.topicArn, input }) }],
    });
  }

  widgets(period: Duration, shape: cloudwatch.GraphWidgetProps): cloudwatch.IWidget[] {
    const machine = this.#stateMachine;
    const ended = new cloudwatch.GraphWidget({
      ...shape,
      title: 'Runs in shards (executions)',
      left: [
        machine.metricSucceeded({ period, label: 'complete', color: cloudwatch.Color.GREEN }),
        machine.metricFailed({ period, label: 'failed', color: cloudwatch.Color.RED }),
        machine.metricTimedOut({ period, label: 'timed out', color: cloudwatch.Color.PURPLE }),
        machine.metricAborted({ period, label: 'stopped by hand', color: cloudwatch.Color.GREY }),
      ],
    });
    const minutes = new cloudwatch.MathExpression({
      expression: 'time / 60000',
      usingMetrics: { time: machine.metricTime({ statistic: 'Maximum', period }) },
      label: 'longest run',
      period,
    });
    return [ended, new cloudwatch.GraphWidget({ ...shape, title: 'Duration of runs (minutes)', left: [minutes] })];
  }
}

function droppedEvents(collector: IFunction, period: Duration): cloudwatch.Metric {
  return collector.metric('AsyncEventsDropped', { statistic: 'Sum', period });
}
