import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BundledCollector, useBundle } from '../support/bundled-collector';
import { ok } from '../support/fault-service-answers';
import { logRecord } from '../support/fault-service-bodies';
import { canMountDisks, withSmallDisk } from '../support/small-disk';

/** The disk for temporary files does not take a body: that body fails, and nothing else does. */

const run = '2026-11-20T10:00:00.000Z';
/** Compresses to about three quarters of its 6 MB. */
const largeLog = Array.from({ length: 500_000 }, () => Math.random().toString(36).slice(2, 14)).join('');

let whenLargeIsAsked: () => void;
let collector: BundledCollector;
const bundle = useBundle(({ uid = '' }) => {
  if (uid === 'large') whenLargeIsAsked();
  return ok(logRecord({ uid, ...(uid === 'large' && { log: largeLog }) }));
});

beforeAll(() => expect(gzipSync(largeLog).length).toBeGreaterThan(2 * 2 ** 20));
beforeEach(async () => {
  whenLargeIsAsked = () => undefined;
  collector = await bundle.start({
    collection: {
      clusters: ['small-1', 'large', 'small-2'].map((uid) => ({ uid, resources: ['log'] })),
      limits: { concurrency: 1 },
    },
  });
});

async function expectOnlyTheLargeToFail(reason: RegExp): Promise<void> {
  const process = await collector.startProcess();
  await process.invoke({ scheduledTime: run });
  const [{ outcomes } = { outcomes: [] }] = await collector.records();
  expect(outcomes.map(({ cluster, outcome }) => [cluster, outcome])).toEqual([
    ['small-1', 'archived'],
    ['large', 'failed'],
    ['small-2', 'archived'],
  ]);
  expect(outcomes[1]?.error).toMatch(reason);
  expect(outcomes[1]?.requests).toBe(1);
  expect(await collector.temporaryFiles()).toEqual([]);
}

it('a folder for temporary files that disappears in the middle of a run fails the bodies that need it', async () => {
  whenLargeIsAsked = () => rmSync(join(collector.folder, 'tmp', 'cluster-log-collector'), { recursive: true });
  await expectOnlyTheLargeToFail(/^Keeping a body of more than \d+ bytes failed: ENOENT$/);
});

(canMountDisks() ? test : test.skip)('a disk that is full fails the bodies that need it, and says what to lower', () =>
  withSmallDisk(join(collector.folder, 'tmp'), 1536, () =>
    expectOnlyTheLargeToFail(
      /^Keeping a body of more than \d+ bytes failed: ENOSPC: the disk for temporary files is full; lower limits\./,
    ),
  ),
);
