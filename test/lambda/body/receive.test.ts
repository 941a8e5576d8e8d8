import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Content } from '../../../lambda/archive/archive-object';
import { type BodyCheck, BodyTooLargeError, InvalidBodyError } from '../../../lambda/body/body-check';
import { createCompressor } from '../../../lambda/body/compress';
import { type Receiver, receive } from '../../../lambda/body/receive';
import { emptySpoolDirectory, memoryLimitBytes, SpoolError } from '../../../lambda/body/spool';

let spoolDirectory: string;

beforeEach(async () => {
  spoolDirectory = await mkdtemp(join(tmpdir(), 'receive-test-'));
});

afterEach(async () => {
  await rm(spoolDirectory, { recursive: true, force: true });
});

const accepting = (): BodyCheck => ({ isAsReceived: true, write: (chunk) => chunk, end: () => ({ state: 'seen' }) });

function receiver(maxBytes = 64 * 1024 * 1024): Receiver {
  return { spoolDirectory, compressor: createCompressor('gzip'), maxBytes };
}

async function* chunksOf(content: Buffer, sizes: number[]): AsyncGenerator<Buffer> {
  let from = 0;
  for (let i = 0; from < content.length; i += 1) {
    const size = sizes[i % sizes.length] ?? content.length;
    yield content.subarray(from, from + size);
    from += size;
  }
}

function stored(content: Content): Promise<Buffer> {
  return Buffer.isBuffer(content) ? Promise.resolve(content) : buffer(content.open());
}

/** Bytes that compress about as well as a log does, so that 8 MB of them spill. */
function logLike(length: number): Buffer {
  const random = randomBytes(Math.ceil(length / 3));
  return Buffer.from(random.toString('hex') + ' a line of a log\n'.repeat(length / 40)).subarray(0, length);
}

describe('receiving a body', () => {
  it.each([
    0,
    1,
    1000,
    256 * 1024 - 1,
    256 * 1024,
    256 * 1024 + 1,
    8 * 1024 * 1024,
  ])('of %i bytes keeps it whole, with its hash, its length and its facts', async (length) => {
    const content = logLike(length);
    const body = await receive(chunksOf(content, [16_384]), accepting(), receiver());
    const compressed = await stored(body.content);
    expect(gunzipSync(compressed).equals(content)).toBe(true);
    expect(body).toMatchObject({
      length,
      sha256: createHash('sha256').update(content).digest('hex'),
      facts: { state: 'seen' },
    });
    await body.release();
    expect(await readdir(spoolDirectory)).toEqual([]);
  });

  it('stores the same bytes however the content was split', async () => {
    const content = logLike(1024 * 1024);
    const expected = await receive(chunksOf(content, [content.length]), accepting(), receiver());
    const wanted = createHash('sha256')
      .update(await stored(expected.content))
      .digest('hex');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1000, max: 400_000 }), { minLength: 1 }), async (sizes) => {
        const body = await receive(chunksOf(content, sizes), accepting(), receiver());
        expect(
          createHash('sha256')
            .update(await stored(body.content))
            .digest('hex'),
        ).toBe(wanted);
        await body.release();
      }),
      { numRuns: 15 },
    );
  });

  it('keeps a small one in memory and a large one in a file', async () => {
    const small = await receive(chunksOf(logLike(100_000), [16_384]), accepting(), receiver());
    expect(Buffer.isBuffer(small.content)).toBe(true);
    const large = await receive(chunksOf(randomBytes(memoryLimitBytes * 2), [16_384]), accepting(), receiver());
    expect(Buffer.isBuffer(large.content)).toBe(false);
    expect(await readdir(spoolDirectory)).toHaveLength(1);
    await large.release();
    await large.release();
    expect(await readdir(spoolDirectory)).toEqual([]);
  });

  it('archives what the check hands on, not what came', async () => {
    const doubling: BodyCheck = {
      isAsReceived: false,
      write: (chunk) => Buffer.concat([chunk, chunk]),
      end: () => ({}),
    };
    const body = await receive(chunksOf(Buffer.from('ab'), [1]), doubling, receiver());
    expect(gunzipSync(await stored(body.content)).toString()).toBe('aabb');
    expect(body.length).toBe(4);
  });

  it.each([
    ['small', 1000],
    ['large', 4 * 1024 * 1024],
  ])('that is refused by its check, %s, leaves nothing behind', async (_size, length) => {
    const refusing: BodyCheck = {
      isAsReceived: true,
      write: (chunk) => chunk,
      end: () => {
        throw new InvalidBodyError('no record');
      },
    };
    await expect(receive(chunksOf(randomBytes(length), [16_384]), refusing, receiver())).rejects.toThrow('no record');
    expect(await readdir(spoolDirectory)).toEqual([]);
  });

  it.each([1000, 3 * 1024 * 1024])('that breaks off after %i bytes leaves nothing behind', async (length) => {
    async function* breaking() {
      yield* chunksOf(randomBytes(length), [16_384]);
      throw new Error('ECONNRESET');
    }
    await expect(receive(breaking(), accepting(), receiver())).rejects.toThrow('ECONNRESET');
    expect(await readdir(spoolDirectory)).toEqual([]);
  });

  it('of more than the limit is given up at the limit', async () => {
    let sent = 0;
    // With an end, for the day on which the limit fails.
    async function* long() {
      while (sent < 10_000_000) {
        sent += 65_536;
        yield Buffer.alloc(65_536, 'x');
      }
    }
    await expect(receive(long(), accepting(), receiver(1_000_000))).rejects.toThrow(BodyTooLargeError);
    expect(sent).toBeLessThan(1_200_000);
    const exact = await receive(chunksOf(Buffer.alloc(1000), [100]), accepting(), receiver(1000));
    expect(exact.length).toBe(1000);
  });

  it('that the disk does not take fails and says so', async () => {
    const gone = { ...receiver(), spoolDirectory: join(spoolDirectory, 'absent') };
    const attempt = receive(chunksOf(randomBytes(4 * 1024 * 1024), [65_536]), accepting(), gone);
    await expect(attempt).rejects.toThrow(SpoolError);
    await expect(attempt).rejects.toThrow(/^Keeping a body of more than \d+ bytes failed: ENOENT/);
  });
});

it('what a killed predecessor left in the spool directory is removed', async () => {
  const directory = join(spoolDirectory, 'spool');
  await mkdir(directory);
  await writeFile(join(directory, 'body-1-1'), 'left');
  await emptySpoolDirectory(directory);
  expect(await readdir(directory)).toEqual([]);
});
