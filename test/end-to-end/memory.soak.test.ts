import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { mostConcurrency, workingMemoryMiB } from '../../infra/limits';
import { type FaultService, startFaultService } from '../support/fault-service';
import { ok } from '../support/fault-service-answers';
import { hugeLogRecord, logRecord } from '../support/fault-service-bodies';
import { FunctionProcess } from './function-process';
import { LocalCollector } from './local-collector';

/**
 * Memory of the real bundle, which does not grow with the bodies. A resident set has garbage too, and how much of it V8 lets
 * lie depends on the machine: 20 to 100 MB were seen. So what bodies would add is several times what the bounds allow.
 */

const run = '2026-11-20T10:00:00.000Z';
const mebibyte = 2 ** 20;

let bodyOf: (uid: string) => Iterable<Buffer>;
let bytesPerBody: number;
/** Whether the service answers in gzip. */
let isCompressed = false;
const type = { 'Content-Type': 'application/json' };
let service: FaultService;

beforeAll(async () => {
  service = await startFaultService(({ uid = '' }) =>
    isCompressed
      ? ok(Readable.from(bodyOf(uid)).pipe(createGzip({ level: 1 })), { ...type, 'Content-Encoding': 'gzip' })
      : ok(bodyOf(uid), { ...type, 'Content-Length': bytesPerBody }),
  );
});
afterAll(() => service.close());

/** Longer than what gzip looks back to. */
const noise = Buffer.from(randomBytes(3 * mebibyte).toString('base64'));

/** A record of exactly `bytes` bytes that stays three quarters as long when it is compressed. */
function* noisyLogRecord({ uid, bytes }: { uid: string; bytes: number }): Generator<Buffer> {
  const [head = '', tail = ''] = logRecord({ uid, log: '|' }).split('|');
  yield Buffer.from(head);
  let left = bytes - Buffer.byteLength(head + tail);
  for (; left >= noise.length; left -= noise.length) yield noise;
  yield noise.subarray(0, left);
  yield Buffer.from(tail);
}

/** Archives some logs of this length. @returns the largest memory of the process that did it, in bytes */
async function peakOf(count: number, bytes: number, body: typeof hugeLogRecord, concurrency = 8): Promise<number> {
  bytesPerBody = bytes;
  bodyOf = (uid) => body({ uid, bytes });
  const uids = Array.from({ length: count }, (_, i) => `cluster-${i}`);
  const collector = await new LocalCollector({
    service: { baseUrl: service.url },
    clusters: uids.map((uid) => ({ uid, resources: ['log'] })),
    limits: { concurrency, maxBodyMiB: Math.ceil(bytes / mebibyte) + 1 },
  }).start();
  const deployed = await collector.deploy();
  const process = await FunctionProcess.start(deployed);
  try {
    expect((await process.collect(run)).counts.archived).toBe(count);
    const peak = await process.peakMemory();
    expect(await process.temporaryFiles()).toEqual([]);
    const [{ outcomes } = { outcomes: [] }] = await deployed.records();
    for (const { cluster, key = '', sha256, bytes: length } of outcomes) {
      expect(length).toBe(bytes);
      expect(sha256).toBe(await hashOf(bodyOf(cluster)));
      expect(await hashOf(createReadStream(join(deployed.folder, key)).pipe(createGunzip()))).toBe(sha256);
    }
    return peak;
  } finally {
    await process.kill();
    // What is left is looked through for the key, unpacked.
    await rm(join(deployed.folder, 'logs'), { recursive: true, force: true });
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

beforeEach(() => {
  isCompressed = false;
});

onLinux.each([
  [1024, 'plain', false],
  [1024, 'in gzip', true],
])('one log of %i MB, %s, takes hardly more memory than one of 200 KB', async (size, _coding, inGzip) => {
  isCompressed = inGzip;
  const small = await peakOf(1, 200 * 1024, hugeLogRecord);
  const large = await peakOf(1, size * mebibyte, hugeLogRecord);
  expect((large - small) / mebibyte).toBeLessThan(300);
});

onLinux.each([false, true])(
  'eight logs at once that hardly compress take no more memory when they are sixteen times as long, in gzip: %s',
  async (inGzip) => {
    isCompressed = inGzip;
    const short = await peakOf(8, 4 * mebibyte, noisyLogRecord);
    const long = await peakOf(8, 64 * mebibyte, noisyLogRecord);
    expect((long - short) / mebibyte).toBeLessThan(200);
  },
);

onLinux(
  'half of the memory that the stack reckons with for 255 logs at once holds them, although they hardly compress',
  async () => {
    // Long enough to spill to a file, and so to take the most memory.
    const peak = await peakOf(mostConcurrency, 2 * mebibyte, noisyLogRecord, mostConcurrency);
    expect(peak / mebibyte).toBeLessThan(workingMemoryMiB({ concurrency: mostConcurrency }) / 2);
  },
);
