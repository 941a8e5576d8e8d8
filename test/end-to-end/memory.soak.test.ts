import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { type BundledCollector, CollectorBundle, summaryOf } from '../support/bundled-collector';
import { type FaultService, startFaultService } from '../support/fault-service';
import { ok } from '../support/fault-service-answers';
import { hugeLogRecord } from '../support/fault-service-bodies';

/** Memory of the real bundle, which does not grow with the bodies. */

const run = '2026-11-20T10:00:00.000Z';
const mebibyte = 2 ** 20;

let bundle: CollectorBundle;
let bytesPerBody: number;
let service: FaultService;
let collector: BundledCollector;

beforeAll(async () => {
  bundle = await CollectorBundle.build();
  service = await startFaultService(({ uid = '' }) =>
    ok(hugeLogRecord({ uid, bytes: bytesPerBody }), {
      'Content-Type': 'application/json',
      'Content-Length': bytesPerBody,
    }),
  );
});
afterAll(async () => {
  await service.close();
  await bundle.remove();
});

/** Archives some logs of this length. @returns the largest memory of the process that did it, in bytes */
async function peakOf(count: number, bytes: number): Promise<number> {
  bytesPerBody = bytes;
  const uids = Array.from({ length: count }, (_, i) => `cluster-${i}`);
  collector = await bundle.start({
    collection: {
      service: { baseUrl: service.url, collection: 'platformclusters' },
      clusters: uids.map((uid) => ({ uid, resources: ['log'] })),
      limits: { concurrency: 8, maxBodyMiB: 1100 },
    },
  });
  try {
    const process = await collector.startProcess();
    expect(summaryOf(await process.invoke({ scheduledTime: run })).counts.archived).toBe(count);
    const peak = await process.peakMemory();
    expect(await collector.temporaryFiles()).toEqual([]);
    const [{ outcomes } = { outcomes: [] }] = await collector.records();
    for (const { cluster, key = '', sha256, bytes: length } of outcomes) {
      expect(length).toBe(bytes);
      expect(sha256).toBe(await hashOf(hugeLogRecord({ uid: cluster, bytes })));
      expect(await hashOf(createReadStream(join(collector.archive, key)).pipe(createGunzip()))).toBe(sha256);
    }
    return peak;
  } finally {
    await collector.close();
  }
}

async function hashOf(content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex');
}

// Other systems do not tell the largest memory of a process.
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux(
  'one log of 1 GB takes hardly more memory than one of 200 KB',
  async () => {
    const small = await peakOf(1, 200 * 1024);
    const large = await peakOf(1, 1024 * mebibyte);
    expect((large - small) / mebibyte).toBeLessThan(120);
  },
  240_000,
);

onLinux(
  'eight logs at once take no more memory when they are eight times as long',
  async () => {
    const short = await peakOf(8, 16 * mebibyte);
    const long = await peakOf(8, 128 * mebibyte);
    expect((long - short) / mebibyte).toBeLessThan(120);
  },
  240_000,
);
