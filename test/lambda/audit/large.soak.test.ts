import type { AuditResult } from '../../../lambda/audit/audit';
import { verifyArchive } from '../../../lambda/verify/verify-archive';
import { heldBytes } from '../../support/held-bytes';
import { Program } from '../../support/program';
import { MadeUpArchive, type MadeUpFleet } from './made-up-archive';

interface Fleet extends MadeUpFleet {
  readonly mayReadObjects?: boolean;
  /** Most memory for objects of JavaScript that live long, in MiB: the process ends when they take more. */
  readonly heapMiB?: number;
}

interface Audited extends Pick<AuditResult, 'found' | 'verified'> {
  /** Most bytes that were in use after a garbage collection, buffers included. */
  readonly held: number;
}

/** Audits in a process of its own: what others leave in memory is not counted. */
async function auditFleet({ clusters, shards, runs, mayReadObjects = false, heapMiB = 2048 }: Fleet): Promise<Audited> {
  const program = new Program(
    'test/lambda/audit/audit-fleet.ts',
    [clusters, shards, runs, Number(mayReadObjects)].map(String),
    { nodeArguments: [`--max-old-space-size=${heapMiB}`], stdout: 'ignore' },
  );
  const audited = await program.message<Audited>();
  await program.end();
  return audited;
}

describe('an audit of a large fleet', () => {
  it('needs no more memory for more runs', async () => {
    const few = await auditFleet({ clusters: 1000, shards: 1, runs: 24 });
    const many = await auditFleet({ clusters: 1000, shards: 1, runs: 96 });
    // The run record of one run has nearly a megabyte.
    expect((many.held - few.held) / 2 ** 20).toBeLessThan(4);
  }, 3_600_000);

  it('reads everything of 1,000 clusters and 24 runs', async () => {
    const fleet = { clusters: 1000, shards: 2, runs: 24, mayReadObjects: true };
    const { found, verified } = await auditFleet(fleet);
    expect([found, verified.objects, verified.carriedOver]).toEqual([{}, 48_000, 0]);
  }, 3_600_000);

  it('seals 24 runs of 50,000 clusters in less than 2 KiB for each, half of it for the text of a run record, and carries the objects over for which there is no time', async () => {
    const small = await auditFleet({ clusters: 1000, shards: 1, runs: 2 });
    const { held, found, verified } = await auditFleet({ clusters: 50_000, shards: 1, runs: 24, heapMiB: 96 });
    expect([found, verified.carriedOverRecords, verified.objects + verified.carriedOver]).toEqual([{}, 0, 2_400_000]);
    expect((held - small.held) / 49_000 / 1024).toBeLessThan(2);
  }, 3_600_000);
});

describe('a verification of a large fleet', () => {
  it('keeps no run record when it reads the next', async () => {
    const clusters = 5000;
    const archive = new MadeUpArchive({ clusters, shards: 1, runs: 3 });
    const held: number[] = [];
    archive.onRecord = () => held.push(heldBytes());
    const { found, sound } = await verifyArchive(archive, {
      now: archive.now,
      concurrency: 16,
      onFinding: () => undefined,
      onProgress: () => undefined,
    });
    const [first = 0, second = 0, third = 0] = held;
    expect([found.missing, sound]).toEqual([0, 30_000]);
    // Names are kept. The text of a run record has 900 bytes of each cluster, and a run takes twice as much.
    expect((Math.max(second, third) - first) / clusters).toBeLessThan(1000);
  }, 3_600_000);
});
