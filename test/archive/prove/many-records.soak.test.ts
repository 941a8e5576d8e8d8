import { runRecordKey } from '../../../archive/format/keys';
import { verifyArchive } from '../../../archive/prove/verify-archive';
import { MemoryBucket } from './history/memory-bucket';

const run = new Date('2026-11-20T10:00:00Z');
/** More than one call takes arguments. */
const count = 130_000;

it('a run with more records than a call takes arguments is verified to its end', async () => {
  const bucket = new MemoryBucket();
  for (let at = 1; at <= count; at += 1) {
    // Every second number, so that as many are missing.
    const key = runRecordKey({ run, attempt: 2 * at });
    bucket.put({ key, content: Buffer.from('planted'), contentType: 'application/json' }, run);
  }
  const { seen } = await verifyArchive(bucket, {
    now: new Date('2026-12-24T00:00:00Z'),
    concurrency: 4,
  });
  expect(seen.found).toMatchObject({ damaged: count, missing: count });
});
