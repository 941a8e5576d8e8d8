import { verifyArchive } from '../../../archive/prove/verify-archive';
import { oneProcessorMiB } from '../../../infra/limits';
import { heldBytes } from '../../support/held-bytes';
import { Program } from '../../support/program';
import type { Audit, Audited } from './audit-process';
import { MadeUpArchive } from './made-up-archive';

const mib = 2 ** 20;

/** @param heapMiB most memory for objects of JavaScript that live long: the process ends when they take more */
async function audited(audit: Audit, heapMiB = 2048): Promise<Audited> {
  const program = new Program('test/lambda/audit/audit-process.ts', [JSON.stringify(audit)], {
    nodeArguments: [`--max-old-space-size=${heapMiB}`],
  });
  const result = await program.message<Audited>();
  await program.end();
  return result;
}

describe('an audit of a large fleet', () => {
  it('needs no more memory for more runs', async () => {
    const few = await audited({ clusters: 1000, runs: 4 });
    const many = await audited({ clusters: 1000, runs: 48 });
    // The run record of one run has nearly a megabyte.
    expect((many.held - few.held) / mib).toBeLessThan(4);
  }, 3_600_000);

  it('reads everything of 1,000 clusters and 24 runs', async () => {
    const { found, verified } = await audited({ clusters: 1000, runs: 24, mayReadObjects: true });
    expect([found, verified.objects, verified.carriedOver]).toEqual([{}, 48_000, 0]);
  }, 3_600_000);

  it('seals 8 runs of 50,000 clusters in 2.5 KiB for each at most, half of it for the text of a run record and 52 bytes for lengths of manifests, and carries over the objects that it has no time for', async () => {
    const small = await audited({ clusters: 1000, runs: 2 });
    const { held, found, verified } = await audited({ clusters: 50_000, runs: 8 }, 160);
    expect([found, verified.carriedOverRecords, verified.objects + verified.carriedOver]).toEqual([{}, 0, 800_000]);
    expect((held - small.held) / 49_000 / 1024).toBeLessThan(2.5);
  }, 3_600_000);
});

describe('a verification of a large fleet', () => {
  it('keeps no run record when it reads the next', async () => {
    const clusters = 5000;
    const archive = new MadeUpArchive({ clusters, runs: 3 });
    const held: number[] = [];
    archive.onRecord = () => held.push(heldBytes());
    const { seen } = await verifyArchive(archive, {
      now: archive.now,
      concurrency: 16,
    });
    const [first = 0, second = 0, third = 0] = held;
    expect([seen.found.missing, seen.sound]).toEqual([0, 30_000]);
    // Names are kept. The text of a run record has 900 bytes of each cluster, and a run takes twice as much.
    expect((Math.max(second, third) - first) / clusters).toBeLessThan(1000);
  }, 3_600_000);
});

describe('a run record of 200 MiB that somebody made up', () => {
  it.each([
    ['lists in lists', { damaged: 1 }],
    ['an end that never comes', { damaged: 1 }],
    ['a million outcomes', { contradiction: 1 }],
  ])(
    'is damage, and fits into the memory and the time of the function: %s',
    async (hostile, kinds) => {
      const fleet = { clusters: 10, runs: 3, mayReadObjects: true, hostile };
      const { found, damage, seconds, peak } = await audited(fleet, Math.floor(0.9 * oneProcessorMiB));
      expect([found, damage >= 1]).toEqual([expect.objectContaining(kinds), true]);
      expect(seconds).toBeLessThan(400);
      expect(peak / mib).toBeLessThan(oneProcessorMiB);
    },
    900_000,
  );
});
