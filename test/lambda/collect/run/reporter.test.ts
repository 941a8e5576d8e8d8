import type { Logger } from '@aws-lambda-powertools/logger';
import type { Metrics } from '@aws-lambda-powertools/metrics';
import type { Outcome, RunSummary } from '../../../../archive/format/run-record';
import { LambdaReporter } from '../../../../lambda/collect/run/reporter';

const outcomes: Outcome[] = [
  { cluster: 'a', resource: 'log', outcome: 'archived', bytes: 1000, receivedBytes: 300, storedBytes: 100 },
  {
    cluster: 'a',
    resource: 'manifest',
    outcome: 'archived',
    bytes: 200,
    receivedBytes: 60,
    storedBytes: 20,
    doubt: 'why not',
    requests: 1,
  },
  // What an earlier attempt archived is not this one's.
  {
    cluster: 'b',
    resource: 'log',
    outcome: 'already-archived',
    bytes: 7,
    receivedBytes: 7,
    storedBytes: 7,
    doubt: 'an earlier one',
  },
  { cluster: 'b', resource: 'manifest', outcome: 'failed', error: 'why' },
];
const summary: RunSummary = {
  run: '2026-11-20T10:00:00.000Z',
  attempt: 2,
  status: 'incomplete',
  dryRun: false,
  counts: { archived: 2, alreadyArchived: 1, failed: 4, notAttempted: 8 },
  record: 's3://archive/runs/one',
  durationMs: 1234,
};
const facts = { scheduled: true, throttled: 16 };

interface Reported {
  readonly lines: unknown[][];
  /** What was published, by name: unit and value. */
  readonly metrics: Record<string, [unit: string, value: number]>;
}

/** Notes what is logged at each level. */
function noting(lines: unknown[][]): Logger {
  const levels = ['info', 'warn', 'error'].map((level) => [
    level,
    (...line: unknown[]) => lines.push([level, ...line]),
  ]);
  return Object.fromEntries(levels);
}

function report(
  changes: Partial<RunSummary> = {},
  changedFacts: Partial<typeof facts> & { readonly leaving?: number } = {},
): Reported {
  const lines: unknown[][] = [];
  const added: Reported['metrics'] = {};
  const metrics: Reported['metrics'] = {};
  const recorder = {
    addMetric: (name: string, unit: string, value: number) => {
      added[name] = [unit, value];
    },
    publishStoredMetrics: () => Object.assign(metrics, added),
  };
  const { scheduled, throttled, leaving } = { leaving: undefined, ...facts, ...changedFacts };
  const reporter = new LambdaReporter(noting(lines), recorder as unknown as Metrics, scheduled);
  for (let i = 0; i < throttled; i += 1) reporter.throttled();
  if (leaving !== undefined) reporter.leaving(leaving);
  reporter.finished({ ...summary, ...changes }, outcomes, 10);
  return { lines, metrics };
}

it('an attempt publishes what it came to, under the names that dashboard and alarms read', () => {
  expect(report().metrics).toEqual({
    Archived: ['Count', 2],
    Failed: ['Count', 4],
    // 12 are missing now, and 10 were before.
    Missing: ['Count', 2],
    Doubts: ['Count', 1],
    Bytes: ['Bytes', 1200],
    ReceivedBytes: ['Bytes', 360],
    StoredBytes: ['Bytes', 120],
    Throttled: ['Count', 16],
    ScheduledRun: ['Count', 1],
  });
});

it.each<[string, Partial<RunSummary>, Partial<typeof facts>, metric: string]>([
  ['a run by hand does not show that the schedule is alive', {}, { scheduled: false }, 'ScheduledRun'],
  ['nor does a shard, which knows nothing of the others', { shard: { index: 0, count: 4 } }, {}, 'ScheduledRun'],
])('%s', (_, changes, changedFacts, metric) => {
  expect(report(changes, changedFacts).metrics[metric]).toEqual(['Count', 0]);
});

it('an attempt that read a list of clusters says how many are leaving, if they are many', () => {
  expect(report({}, { leaving: 4 }).metrics.ManyLeaving).toEqual(['Count', 4]);
});

it('a dry run publishes no metrics, but says in the log what it came to', () => {
  const { lines, metrics } = report({ dryRun: true });
  expect(metrics).toEqual({});
  expect(lines).toHaveLength(1);
});

it('an attempt is one line of the log, a warning unless it is complete', () => {
  expect(report().lines).toEqual([['warn', 'run finished', { ...summary, ...facts }]]);
  const complete = { ...summary, status: 'complete' as const };
  expect(report(complete).lines).toEqual([['info', 'run finished', { ...complete, ...facts }]]);
});

it('a failure, a doubt, what a dry run found good and a repeated request are one line of the log each, with all that is known of them; other outcomes have none', () => {
  const lines: unknown[][] = [];
  const reporter = new LambdaReporter(noting(lines), {} as Metrics, true);
  for (const outcome of [outcomes[0], outcomes[1], outcomes[3]] as Outcome[]) reporter.outcome(outcome);
  reporter.outcome({ cluster: 'c', resource: 'log', outcome: 'would-archive', bytes: 5 });
  reporter.askedAgain({ cluster: 'a', resource: 'log' }, 2);
  expect(lines).toEqual([
    ['warn', 'archived with a doubt', outcomes[1]],
    // The reason has nothing in it that differs from cluster to cluster: a query of the log may group by it.
    ['error', 'not archived', { ...outcomes[3], reason: 'why' }],
    ['info', 'would archive', { cluster: 'c', resource: 'log', outcome: 'would-archive', bytes: 5 }],
    ['info', 'asked again', { cluster: 'a', resource: 'log', requests: 2 }],
  ]);
});
