import { useLocalCollector } from './local-collector';

const audit = { schedule: 'cron(30 12 * * ? *)' };
const fleet = Array.from({ length: 12 }, (_, index) => `c-${String(index).padStart(2, '0')}`);
const resources = ['log'] as const;
const logOnly = (uids: readonly string[]) => uids.map((uid) => ({ uid, resources }));

// An audit takes no time that is more than a day old.
const now = Math.floor(Date.now() / 3_600_000) * 3_600_000;
const hoursAgo = (hours: number) => ({ scheduledTime: new Date(now - hours * 3_600_000).toISOString() });

/** Whoever has the collector's rights, or deploys it anew: the same stack with one cluster, in the same archive. */
const withOne = useLocalCollector({ clusters: logOnly(fleet.slice(0, 1)), audit });

const deployed = useLocalCollector({ clusters: logOnly(fleet), audit });

it('the deployed audit names the clusters of its plan that runs leave out', async () => {
  const collector = await deployed.deploy();
  await collector.invoke(hoursAgo(3));
  const other = await withOne.deploy({ folder: collector.folder });
  for (const hours of [2, 1]) await other.invoke(hoursAgo(hours));
  const { attempts } = (await collector.audit?.fireSchedule(new Date(now))) ?? {};
  expect(attempts).toMatchObject([{ payload: { number: 1 } }]);
  const text = collector.messages[0]?.body.replace(/\s+/g, ' ');
  expect(text).toContain('Clusters that runs left out: 11 c-01 (2 runs)');
});
