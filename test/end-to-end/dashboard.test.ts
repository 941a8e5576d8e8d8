import { dashboardOf } from '../infra/dashboard-body';
import { runLogQuery } from '../support/log-query';
import { type DeployedCollector, LocalCollector } from './local-collector';

const noon = new Date('2026-11-20T12:00:00Z');
const clusters = ['one', 'two', 'three', 'four', 'five'];

/** Runs the query of a widget over the lines that the function has logged. */
function shown(title: string, { logs }: DeployedCollector, shards?: number) {
  const { query = '' } = dashboardOf(shards === undefined ? {} : { shards }).widget(title).properties;
  const lines = logs.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as { timestamp?: string });
  const events = lines.filter(({ timestamp }) => timestamp !== undefined);
  // Three hours after the last line.
  const last = Math.max(...events.map(({ timestamp = '' }) => Date.parse(timestamp)));
  return runLogQuery(query, events, new Date(last + 3 * 3_600_000 + 1000));
}

describe('the dashboard over the log of a collector', () => {
  let collector: LocalCollector;

  afterEach(() => collector.close());

  it('says of each run what its last attempt left, and why, however many attempts it took', async () => {
    collector = await new LocalCollector({ clusters }).start();
    const deployed = await collector.deploy();
    Object.assign(collector.failing, { one: 'not-found', two: 'other-cluster' });
    await deployed.fireSchedule(noon);
    const run = noon.toISOString();
    const last = { run, configured: 10, attempts: 3, hoursAgo: 3 };
    expect(shown('Last runs: archived of configured', deployed)).toEqual([{ ...last, archived: 7, missing: 3 }]);
    // Those that are equally frequent come in the order in which the clusters were asked.
    const reasons = shown('Reasons of failures', deployed);
    expect(reasons).toHaveLength(2);
    expect(reasons).toContainEqual({ reason: '404 Not Found', clusters: 1, hoursAgo: 3 });
    expect(reasons).toContainEqual({ reason: expect.stringMatching(/^200 OK, but /), clusters: 1, hoursAgo: 3 });
    const failing = shown('Clusters that fail most', deployed);
    expect(failing).toHaveLength(2);
    for (const cluster of ['one', 'two']) expect(failing).toContainEqual({ cluster, starts: 1, hoursAgo: 3 });

    expect(shown('Last green runs', deployed)).toEqual([]);

    // Completed by two starts by hand, of which each covers a part. A dry run changes nothing.
    delete collector.failing.one;
    await deployed.invoke({ run, clusters: ['one'] });
    expect(shown('Last runs: archived of configured', deployed)).toEqual([
      { ...last, attempts: 4, archived: 9, missing: 1 },
    ]);
    // The attempt itself was complete, but it covered one cluster.
    expect(shown('Last green runs', deployed)).toEqual([]);
    delete collector.failing.two;
    await deployed.invoke({ run, dryRun: true });
    await deployed.invoke({ run, clusters: ['two'] });
    expect(shown('Last runs: archived of configured', deployed)).toEqual([
      { ...last, attempts: 5, archived: 10, missing: 0 },
    ]);
    expect(shown('Last green runs', deployed)).toEqual([
      { run, archived: 10, configured: 10, attempts: 5, hoursAgo: 3 },
    ]);
  });

  it('counts what is optional and missing as configured, and as no failure', async () => {
    collector = await new LocalCollector({ clusters: ['one', { uid: 'two', optional: true }] }).start();
    const deployed = await collector.deploy();
    Object.assign(collector.failing, { two: 'not-found' });
    await deployed.fireSchedule(noon);
    expect(shown('Last runs: archived of configured', deployed)).toMatchObject([{ configured: 4, archived: 2 }]);
    expect(shown('Reasons of failures', deployed)).toEqual([]);
    expect(shown('Clusters that fail most', deployed)).toMatchObject([{ cluster: 'two' }]);
  });

  it('adds the shards of a run up, each after its last attempt', async () => {
    collector = await new LocalCollector({ clusters, shards: 2 }).start();
    const deployed = await collector.deploy();
    Object.assign(collector.failing, { one: 'not-found' });
    await deployed.fireSchedule(noon);
    expect(shown('Last runs: archived of configured', deployed, 2)).toEqual([
      { run: noon.toISOString(), configured: 10, archived: 8, missing: 2, shards: 2, hoursAgo: 3 },
    ]);
    expect(shown('Last green runs', deployed, 2)).toEqual([]);
    delete collector.failing.one;
    const later = new Date('2026-11-20T13:00:00Z');
    await deployed.fireSchedule(later);
    expect(shown('Last green runs', deployed, 2)).toEqual([
      { run: later.toISOString(), archived: 10, configured: 10, shards: 2, hoursAgo: 3 },
    ]);
    // With a shard that has left no line, a run is not complete.
    expect(shown('Last green runs', deployed, 3)).toEqual([]);
  });
});
