import { resourcesOf, templateOf, textOf } from './example-stack';

interface Query {
  Id: string;
  Expression?: string;
  ReturnData?: boolean;
  MetricStat?: { Metric: { MetricName: string; Dimensions: { Value: unknown }[] }; Stat: string; Period: number };
}

export interface Alarm {
  AlarmName: string;
  AlarmDescription: unknown;
  ActionsEnabled?: boolean;
  AlarmActions: unknown;
  OKActions: unknown;
  MetricName?: string;
  Dimensions: { Value: unknown }[];
  Metrics?: Query[];
  Statistic: string;
  Period: number;
  Threshold: number;
  ComparisonOperator: string;
  EvaluationPeriods: number;
  DatapointsToAlarm?: number;
  TreatMissingData: 'breaching' | 'notBreaching' | 'ignore';
  WarmUpConfiguration?: { WarmUpPeriodDurationInMinutes: number };
}

/** The alarms of a stack by their title. */
export function alarmsOf(changes: Record<string, unknown> = {}): Map<string, Alarm> {
  const alarms = resourcesOf(templateOf(changes), 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
  return new Map((alarms as unknown as Alarm[]).map((alarm) => [alarm.AlarmName.split(' - ')[1] ?? '', alarm]));
}

/** What an alarm looks at. */
function queriesOf({ Metrics, MetricName = '', Dimensions, Statistic, Period }: Alarm): Query[] {
  return Metrics ?? [{ Id: 'only', MetricStat: { Metric: { MetricName, Dimensions }, Stat: Statistic, Period } }];
}

/** The metrics that an alarm looks at: name, values of its dimensions, statistic. */
export function metricsOf(alarm: Alarm): string[] {
  return queriesOf(alarm).flatMap(({ MetricStat: metric }) =>
    metric === undefined
      ? []
      : [
          [metric.Metric.MetricName, ...metric.Metric.Dimensions.map(({ Value }) => textOf(Value)), metric.Stat].join(
            ' ',
          ),
        ],
  );
}

/** Values of metrics by the beginning of what {@link metricsOf} says, one for each period; undefined: no data point. */
export type Data = Readonly<Record<string, readonly (number | undefined)[]>>;

const functions = {
  FILL: (value: number | undefined, other: number) => value ?? other,
  IF: (condition: boolean, one: number, other: number) => (condition ? one : other),
  SUM: (values: (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined);
    return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
  },
};

/** The value that an alarm compares in a period. The expressions of CloudWatch that are used here are JavaScript's too. */
function valueAt(alarm: Alarm, data: Data, period: number): number | undefined {
  const queries = queriesOf(alarm);
  const resultOf = ({ Expression, MetricStat }: Query): number | undefined => {
    if (Expression === undefined) {
      const [line = ''] = metricsOf({ ...alarm, Metrics: [{ Id: 'only', MetricStat }] } as Alarm);
      return Object.entries(data).find(([name]) => line.startsWith(name))?.[1][period];
    }
    const used = queries.filter(({ Id }) => new RegExp(`\\b${Id}\\b`).test(Expression));
    const calculate = new Function(...Object.keys(functions), ...used.map(({ Id }) => Id), `return ${Expression}`);
    return calculate(...Object.values(functions), ...used.map(resultOf));
  };
  return resultOf(queries.find(({ ReturnData }) => ReturnData !== false) as Query);
}

const breaches: Record<string, (value: number, threshold: number) => boolean> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  GreaterThanThreshold: (value, threshold) => value > threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};

/**
 * When an alarm begins and ends, in periods from the first one: pairs, the last of which may have no end. Before the first
 * period there is no data, and the alarm is OK.
 */
export function spansOf(alarm: Alarm, data: Data, periods: number): number[] {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, TreatMissingData, ComparisonOperator } = alarm;
  const isBreaching = breaches[ComparisonOperator] as (value: number, threshold: number) => boolean;
  const changes: number[] = [];
  for (let end = 0; end < periods; end += 1) {
    const values = Array.from({ length: EvaluationPeriods }, (_, back) =>
      end < back ? undefined : valueAt(alarm, data, end - back),
    );
    if (TreatMissingData === 'ignore' && values.every((value) => value === undefined)) continue;
    const breaching = values.filter((value) =>
      value === undefined ? TreatMissingData === 'breaching' : isBreaching(value, alarm.Threshold),
    ).length;
    const isAlarm = breaching >= DatapointsToAlarm;
    if (isAlarm !== (changes.length % 2 === 1)) changes.push(end);
  }
  return changes;
}
