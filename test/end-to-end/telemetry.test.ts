import { metricNamespace } from '../../lambda/stack-contract';
import { type DeployedCollector, useLocalCollector } from './local-collector';

const noon = new Date('2026-11-20T12:00:00Z');

// As many as have to be rejected before the key itself is blamed.
const clusters = ['one', 'two', 'three', 'four', 'five'];

const collector = useLocalCollector({ clusters });

interface Line extends Record<string, unknown> {
  readonly message?: string;
  readonly _aws?: { CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[] };
}

const linesOf = ({ logs }: DeployedCollector): Line[] =>
  logs.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
const linesSaying = (deployed: DeployedCollector, said: string) =>
  linesOf(deployed).filter(({ message }) => message === said);

/** What CloudWatch makes of the log: one set of values per attempt. */
function metricsOf(deployed: DeployedCollector): Record<string, unknown>[] {
  return linesOf(deployed).flatMap((line) =>
    (line._aws?.CloudWatchMetrics ?? []).map(({ Namespace, Dimensions, Metrics }) => ({
      Namespace,
      Dimensions: Dimensions.map((names) => Object.fromEntries(names.map((name) => [name, line[name]]))),
      ...Object.fromEntries(Metrics.map(({ Name }) => [Name, line[Name]])),
    })),
  );
}

const ofEveryAttempt = { Namespace: metricNamespace, Dimensions: [{ service: 'end-to-end' }] };

it('every attempt leaves its metrics and one line, and every failure a line with its reason', async () => {
  const deployed = await collector.deploy();
  Object.assign(collector.failing, { one: 'throttled-once', two: 'other-cluster' });
  await deployed.fireSchedule(noon);

  const [first, ...later] = metricsOf(deployed);
  expect(first).toMatchObject({
    ...ofEveryAttempt,
    ...{ Archived: 9, Failed: 1, Missing: 1, Throttled: 2, ScheduledRun: 1 },
    ...{ Bytes: expect.any(Number), StoredBytes: expect.any(Number) },
  });
  expect(first?.StoredBytes).toBeLessThan(first?.Bytes as number);
  // Its own count and not that of the attempts before.
  const retried = expect.objectContaining({
    Archived: 0,
    Failed: 1,
    Missing: 0,
    Throttled: 0,
    Bytes: 0,
  });
  // Where the failure of the last attempt arrives, it is counted once: 1 of 10 is missing.
  const lost = { ...ofEveryAttempt, MissingPercent: 10, ListRefused: 0 };
  expect(later).toEqual([retried, retried, lost]);

  const requestIds = linesSaying(deployed, 'run finished').map(({ function_request_id: id }) => id);
  expect(new Set(requestIds).size).toBe(1);
  expect(linesSaying(deployed, 'run finished')).toEqual(
    [1, 2, 3].map((attempt) =>
      expect.objectContaining({
        ...{ level: 'WARN', service: 'end-to-end', run: '2026-11-20T12:00:00.000Z', attempt, status: 'incomplete' },
        ...{ scheduled: true, counts: expect.objectContaining({ failed: 1 }) },
        record: expect.stringContaining(`.attempt-${attempt}.jsonl`),
      }),
    ),
  );
  expect(linesSaying(deployed, 'not archived')).toEqual(
    Array(3).fill(
      expect.objectContaining({
        ...{ level: 'ERROR', cluster: 'two', resource: 'log', httpStatus: 200 },
        error: expect.stringContaining('"not-two"'),
      }),
    ),
  );
});
