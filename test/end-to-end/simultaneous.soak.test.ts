import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { summaryOf, useBundle } from '../support/bundled-collector';
import { ok } from '../support/fault-service-answers';
import { logRecord } from '../support/fault-service-bodies';

/** Several invocations of one run at the same time: a delivery that was made twice, and somebody at the console. */

const run = '2026-11-20T10:00:00.000Z';
const uids = Array.from({ length: 20 }, (_, i) => `cluster-${i}`);

let answers = 0;
// Every answer differs, as those of a living cluster do: only one of them may be what the archive says.
const bundle = useBundle(({ uid = '' }) => {
  answers += 1;
  return ok(logRecord({ uid, log: `answer ${answers}` }));
});

it.each([2, 3])('%i at once archive every object once, and each says truthfully what it did', async (count) => {
  const written: string[] = [];
  const barrier = new Barrier(count);
  const collector = await bundle.start({
    collection: {
      clusters: uids.map((uid) => ({ uid, resources: ['log'] })),
      limits: { concurrency: 4 },
    },
    // All of them have seen an empty archive before the first writes, and all want to write each object at once.
    intercept: async ({ action, key = '' }) => {
      if (action === 'ListObjectsV2' || key.includes('cluster-7/')) await barrier.reached(`${action} ${key}`);
      return undefined;
    },
    onRequest: ({ action, key = '', status }) => {
      if (action === 'PutObject' && status === 200) written.push(key);
    },
  });
  const names = Array.from({ length: count }, (_, i) => `tmp-${i}`);
  const processes = await Promise.all(names.map((name) => collector.startProcess(name)));
  const summaries = (await Promise.all(processes.map((one) => one.invoke({ scheduledTime: run })))).map(summaryOf);

  expect(summaries.map(({ status }) => status)).toEqual(Array(count).fill('complete'));
  for (const { counts } of summaries) expect(counts.archived + counts.alreadyArchived).toBe(uids.length);
  const objects = await collector.objects();
  const archived = [...objects.keys()].filter((key) => key.startsWith('logs/'));
  expect(archived).toHaveLength(uids.length);
  expect(written.filter((key) => key.startsWith('logs/')).sort()).toEqual(archived);
  expect(summaries.reduce((sum, { counts }) => sum + counts.archived, 0)).toBe(uids.length);

  const records = await collector.records();
  expect(records.map(({ attempt }) => attempt)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  for (const { outcomes, counts, attempt } of records) {
    const own = summaries.find((summary) => summary.attempt === attempt);
    expect(counts).toEqual(own?.counts);
    for (const { outcome, key = '', sha256 } of outcomes) {
      const content = gunzipSync(objects.get(key)?.body ?? Buffer.alloc(0));
      // Who did not write an object does not claim to know what is in it.
      expect(sha256).toBe(outcome === 'archived' ? createHash('sha256').update(content).digest('hex') : undefined);
    }
  }
});

/** Holds whoever comes to a point until all have come to it. */
class Barrier {
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(private readonly count: number) {}

  reached(point: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = [...(this.#waiting.get(point) ?? []), resolve];
      this.#waiting.set(point, waiting);
      if (waiting.length >= this.count) for (const go of waiting) go();
    });
  }
}
