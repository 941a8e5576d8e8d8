import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { AuditResult } from '../../../lambda/audit/audit';
import { verifyArchive } from '../../../lambda/verify/verify-archive';
import { heldBytes } from '../../support/held-bytes';
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
  const fleet = [clusters, shards, runs, Number(mayReadObjects)].map(String);
  const execArgv = ['--import', 'tsx', `--max-old-space-size=${heapMiB}`];
  const child = fork(join(__dirname, 'audit-fleet.ts'), fleet, {
    execArgv,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const said = text(child.stderr as Readable);
  const ended = once(child, 'exit').then(async ([code, signal]) => {
    throw new Error(`the audit ended with ${code ?? signal}: ${await said}`);
  });
  const [audited] = (await Promise.race([once(child, 'message'), ended])) as [Audited];
  await ended.catch(() => undefined);
  return audited;
}

describe('an audit of a large fleet', () => {
  it('needs no more memory for more runs', async () => {
    const few = await auditFleet({ clusters: 1000, shards: 1, runs: 24 });
    const many = await auditFleet({ clusters: 1000, shards: 1, runs: 96 });
    // The run record of one run has nearly a megabyte.
    expect((many.held - few.held) / 2 ** 20).toBeLessThan(4);
  }, 3_600_000);

  it('needs less than 2 KiB for each cluster, half of it for the text of the run record', async () => {
    const small = await auditFleet({ clusters: 1000, shards: 1, runs: 2 });
    const large = await auditFleet({ clusters: 50_000, shards: 1, runs: 2, heapMiB: 96 });
    expect([large.found, large.verified.carriedOverRecords]).toEqual([{}, 0]);
    expect((large.held - small.held) / 49_000 / 1024).toBeLessThan(2);
  }, 3_600_000);

  it('reads everything of 1,000 clusters and 24 runs', async () => {
    const fleet = { clusters: 1000, shards: 1, runs: 24, mayReadObjects: true };
    const { found, verified } = await auditFleet(fleet);
    expect([found, verified.objects, verified.carriedOver]).toEqual([{}, 48_000, 0]);
  }, 3_600_000);

  it('seals 24 runs of 50,000 clusters, and carries the objects over for which there is no time', async () => {
    const { found, verified } = await auditFleet({ clusters: 50_000, shards: 2, runs: 24, heapMiB: 96 });
    expect([found, verified.carriedOverRecords, verified.objects + verified.carriedOver]).toEqual([{}, 0, 2_400_000]);
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
