import type { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type Gap, longestGap } from '../lambda/schedule/cron-gap';
import { metricNames, metricNamespace } from '../lambda/stack-contract';
import { runMarginHours } from '../lambda/verify/time-limits';
import type { CollectorConfig } from './config/config';
import type { FanOut } from './fan-out';
import { functionRuns, type RunQuery, shardRuns } from './log-queries';

/** The words that alarms use about runs of the function, each with its retries. */
const functionTexts = {
  /** The record that shows that a run took place. */
  records: 'its record',
  whenFailed: {
    look: 'The message with the error on this topic, the failures on the dashboard, the run record it names.',
    act: 'Fix the cause, then complete the run with the command in the message, or by hand with the event {"run": "<time>"}.',
  },
  /** What gives a run more time, as an infinitive. */
  moreTime: 'set shards',
};

/** The same about executions of the state machine, which invokes the function for each shard. */
const executionTexts: typeof functionTexts = {
  records: 'the records of all its shards',
  whenFailed: {
    look: 'The failed execution of the state machine, whose cause names the shards; the failures on the dashboard.',
    act: 'Fix the cause, then complete the run with the command in the cause. Redrive repeats only the failed end.',
  },
  moreTime: 'raise shards',
};

/** What works on a run of the schedule, as alarms and dashboard see it: the function, or the state machine. */
export class RunSource {
  readonly texts: typeof functionTexts;
  /** The log query that makes one row of each run. */
  readonly query: RunQuery;
  /** Of the schedule. */
  readonly gap: Gap;
  /** How long after the longest gap a run counts as missing, in hours. */
  readonly marginHours: number;
  readonly #service: string;
  readonly #collector: IFunction;
  readonly #stateMachine: FanOut['stateMachine'] | undefined;

  /** @param stateMachine undefined if there is one shard */
  constructor(
    { name, schedule, shards, limits }: CollectorConfig,
    collector: IFunction,
    stateMachine: FanOut['stateMachine'] | undefined,
  ) {
    this.texts = stateMachine === undefined ? functionTexts : executionTexts;
    this.query = stateMachine === undefined ? functionRuns : shardRuns(shards);
    this.gap = longestGap(schedule.expression, schedule.timeZone);
    this.marginHours = runMarginHours(shards, limits.oneRunAtATime);
    this.#service = name;
    this.#collector = collector;
    this.#stateMachine = stateMachine;
  }

  /** One of the metrics that runs and audits emit, summed up unless the options say otherwise. */
  metric(name: keyof typeof metricNames, options: cloudwatch.MetricOptions = {}): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: metricNamespace,
      metricName: metricNames[name],
      dimensionsMap: { service: this.#service },
      statistic: 'Sum',
      ...options,
    });
  }

  /**
   * Counts the runs that nothing will retry any more: dropped events, because Lambda drops one after its last attempt. Errors
   * would also count attempts that a retry repairs.
   */
  failedRuns(period: Duration): cloudwatch.IMetric {
    const dropped = this.#collector.metric('AsyncEventsDropped', { statistic: 'Sum', period });
    if (this.#stateMachine === undefined) return dropped;
    return new cloudwatch.MathExpression({
      // Events are dropped only after a start of the function by hand. SUM passes over a metric without data.
      expression: 'SUM([dropped, failed, timedOut])',
      usingMetrics: {
        dropped,
        failed: this.#stateMachine.metricFailed({ period }),
        timedOut: this.#stateMachine.metricTimedOut({ period }),
      },
      label: 'Runs failed for good',
      period,
    });
  }

  /** What the dashboard shows of executions. */
  widgets(period: Duration, shape: cloudwatch.GraphWidgetProps): cloudwatch.IWidget[] {
    const machine = this.#stateMachine;
    if (machine === undefined) return [];
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
