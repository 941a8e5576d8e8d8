import { createHash } from 'node:crypto';
import { objectKey } from '../../lambda/archive/archive-layout';
import { maxRequests } from '../../lambda/dispatch/retry';
import type { resourceNames } from '../../lambda/resources';
import { countOutcomes } from '../../lambda/run/completeness';
import type { RunSummary } from '../../lambda/run/run-record';
import { logMessages, metricNames } from '../../lambda/stack-contract';
import { useBundle } from '../support/bundled-collector';
import { everyPair, RandomFaults, tooManyRequests } from '../support/fault-service-random';

const run = '2026-11-20T10:00:00.000Z';
const uids = Array.from({ length: 500 }, (_, i) => `cluster-${i}`);
const faults = new RandomFaults('five hundred', 0.2);
const keyOf = (cluster: string, resource: (typeof resourceNames)[number]) =>
  objectKey({ cluster, resource, run: new Date(run) });

const bundle = useBundle(faults.script);

it('with random faults all that can be archived is, the rest is reported, and every count agrees', async () => {
  const { service } = bundle;
  const clusters = uids.map((uid) => ({ uid }));
  const collector = await bundle.start({ collection: { clusters, limits: { concurrency: 32 } } });
  const process = await collector.startProcess();
  const outcome = await process.invoke({ scheduledTime: run });
  const pairs = everyPair(uids);
  const isLost = ({ uid, resource }: (typeof pairs)[number]) =>
    faults.faultOf(uid, resource, maxRequests) !== undefined;
  const archivable = pairs.filter((pair) => !isLost(pair));
  const lost = pairs.filter(isLost);
  // Otherwise this shows nothing.
  expect(lost.length).toBeGreaterThan(20);
  const counts = { archived: archivable.length, alreadyArchived: 0, failed: lost.length, notAttempted: 0 };

  const contents = await collector.contents();
  expect([...contents.keys()].sort()).toEqual(archivable.map(({ uid, resource }) => keyOf(uid, resource)).sort());
  for (const { uid, resource } of archivable)
    expect(contents.get(keyOf(uid, resource))?.toString()).toBe(faults.content(uid, resource));

  const records = await collector.records();
  expect(records).toHaveLength(1);
  const { outcomes = [], counts: recorded, status } = records[0] ?? {};
  expect([recorded, countOutcomes(outcomes), status]).toEqual([counts, counts, 'incomplete']);
  expect(outcomes.map(({ cluster: uid, resource }) => ({ uid, resource }))).toEqual(pairs);
  for (const { cluster, resource, key, sha256, outcome: what, error } of outcomes) {
    const content = contents.get(keyOf(cluster, resource));
    if (content === undefined) expect([what, typeof error, key]).toEqual(['failed', 'string', undefined]);
    else
      expect([what, key, sha256]).toEqual([
        'archived',
        keyOf(cluster, resource),
        createHash('sha256').update(content).digest('hex'),
      ]);
  }

  const lines = collector.lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const summary = lines.find(({ message }) => message === logMessages.run) as RunSummary;
  expect(summary.counts).toEqual(counts);
  expect(lines.filter(({ message }) => message === logMessages.failure)).toHaveLength(lost.length);
  const throttledAnswers = service.requests.filter(
    ({ uid = '', resource = 'log', nth }) => faults.faultOf(uid, resource, nth) === tooManyRequests,
  );
  expect(lines.filter((line) => '_aws' in line)).toEqual([
    expect.objectContaining({
      [metricNames.archived]: archivable.length,
      [metricNames.alreadyArchived]: 0,
      [metricNames.failed]: lost.length,
      [metricNames.notAttempted]: 0,
      [metricNames.missing]: lost.length,
      [metricNames.throttled]: throttledAnswers.length,
      [metricNames.bytes]: outcomes.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
      [metricNames.receivedBytes]: outcomes.reduce((sum, { receivedBytes = 0 }) => sum + receivedBytes, 0),
      [metricNames.storedBytes]: outcomes.reduce((sum, { storedBytes = 0 }) => sum + storedBytes, 0),
    }),
  ]);

  expect(outcome).toMatchObject({ error: { errorType: 'RunIncompleteError' } });
  const { errorMessage } = (outcome as { error: { errorMessage: string } }).error;
  expect(errorMessage).toContain(`${lost.length} of 1000 not archived (${lost.length} failed, 0 not attempted)`);
  expect(collector.lines.filter((line) => line.includes('MaxListenersExceededWarning'))).toEqual([]);

  // What the service has repaired by then, the same process collects later; what is archived is not asked for again.
  const asked = service.requests.length;
  await process.invoke({ run });
  expect(
    (await collector.records()).map(({ counts: { archived, alreadyArchived, failed } }) => [
      archived,
      alreadyArchived,
      failed,
    ]),
  ).toEqual([
    [archivable.length, 0, lost.length],
    [0, archivable.length, lost.length],
  ]);
  expect(
    service.requests.slice(asked).every(({ uid = '', resource = 'log' }) => !contents.has(keyOf(uid, resource))),
  ).toBe(true);
});
