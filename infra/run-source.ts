import type { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { metricNames, metricNamespace } from '../lambda/stack-contract';
import type { FanOut } from './fan-out';
import { functionRuns, type RunQuery, shardRuns } from './log-queries';

/** The words that alarms use about the runs of one source. */
export interface RunTexts {
  /** The record that shows that a run took place. */
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

  abstract readonly texts: RunTexts;
  /** The log query that makes one row of each run. */
  abstract readonly query: RunQuery;
  /** Counts the runs that nothing will retry any more. */
  abstract failedRuns(period: Duration): cloudwatch.IMetric;
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
  readonly texts: RunTexts = {
    records: 'its record',
    whenFailed: {
      look: 'The message with the error on this topic, the failures on the dashboard, the run record it names.',
      act: 'Fix the cause, then complete the run with the command in the message, or by hand with the event {"run": "<time>"}.',
    },
    moreTime: 'set shards',
  };
  readonly query = functionRuns;
  readonly #collector: IFunction;

  constructor(service: string, collector: IFunction) {
    super(service);
    this.#collector = collector;
  }

  /**
   * Dropped events, because Lambda drops one after its last attempt. Errors would also count attempts that a retry
   * repairs.
   */
  failedRuns(period: Duration): cloudwatch.IMetric {
    return droppedEvents(this.#collector, period);
  }

  widgets(): cloudwatch.IWidget[] {
    return [];
  }
}

/** A run is one execution of the state machine, which invokes the function for each shard. */
export class ExecutionRuns extends RunSource {
  readonly texts: RunTexts = {
    records: 'the records of all its shards',
    whenFailed: {
      look: 'The failed execution of the state machine, whose cause names the shards; the failures on the dashboard.',
      act: 'Fix the cause, then complete the run with the command in the cause. Redrive repeats only the failed end.',
    },
    moreTime: 'raise shards',
  };
  readonly query: RunQuery;
  readonly #collector: IFunction;
  readonly #stateMachine: FanOut['stateMachine'];

  constructor(
    service: string,
    collector: IFunction,
    { stateMachine, shards }: Pick<FanOut, 'stateMachine' | 'shards'>,
  ) {
    super(service);
    this.#collector = collector;
    this.#stateMachine = stateMachine;
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
