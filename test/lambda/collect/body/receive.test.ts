import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type BodyCheck, InvalidBodyError } from '../../../../lambda/collect/body/body-check';
import { CodingError } from '../../../../lambda/collect/body/content-coding';
import { type Receiver, receive } from '../../../../lambda/collect/body/receive';
import { emptySpoolDirectory, memoryLimitBytes } from '../../../../lambda/collect/body/spool';
import type { Content } from '../../../../lambda/collect/put/archive-object';
import { damagedGzipStreams, gzipStreams } from '../../../support/gzip-streams';
import { newFolder } from '../../../support/new-folder';

let spoolDirectory: string;
let receiver: Receiver;
const never = new AbortController().signal;

beforeEach(async () => {
  spoolDirectory = newFolder();
  receiver = { spoolDirectory, maxBytes: 64 * 1024 * 1024 };
});

afterEach(async () => {
  // Whatever happened, nothing is left once the body is released.
  expect(await readdir(spoolDirectory)).toEqual([]);
});

const asReceived = (): BodyCheck => ({ isAsReceived: true, write: (chunk) => chunk, end: () => ({ state: 'seen' }) });
const changing = (): BodyCheck => ({ isAsReceived: false, write: (chunk) => chunk, end: () => ({}) });

/** @param sizes of the chunks; they are repeated */
async function* inChunks(bytes: Buffer, ...sizes: number[]): AsyncGenerator<Buffer> {
  for (let at = 0, nth = 0; at < bytes.length; nth += 1) {
    const size = sizes[nth % sizes.length] ?? bytes.length;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Receives a body without a content coding. */
function plain(bytes: Buffer, check = asReceived(), by = receiver) {
  return receive(inChunks(bytes, 16_384), check, by);
}

function received(bytes: Buffer, check = asReceived(), { size = 16_384, by = receiver } = {}) {
  return receive(inChunks(bytes, size), check, by, { signal: never });
}

function stored(content: Content): Promise<Buffer> {
  return Buffer.isBuffer(content) ? Promise.resolve(content) : buffer(content.open());
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

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
    const body = await plain(content);
    const compressed = await stored(body.content);
    expect(gunzipSync(compressed).equals(content)).toBe(true);
    expect(body).toMatchObject({
      length,
      sha256: sha256(content),
      facts: { state: 'seen' },
    });
    await body.release();
  });

  it('stores the same bytes however the content was split', async () => {
    const content = logLike(1024 * 1024);
    const whole = await receive(inChunks(content, content.length), asReceived(), receiver);
    const wanted = await stored(whole.content);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1000, max: 400_000 }), { minLength: 1 }), async (sizes) => {
        const body = await receive(inChunks(content, ...sizes), asReceived(), receiver);
        expect((await stored(body.content)).equals(wanted)).toBe(true);
        await body.release();
      }),
      { numRuns: 15 },
    );
    await whole.release();
  });

  it('keeps a small one in memory and a large one in a file', async () => {
    const small = await plain(logLike(100_000));
    expect(Buffer.isBuffer(small.content)).toBe(true);
    const large = await plain(randomBytes(memoryLimitBytes * 2));
    expect(Buffer.isBuffer(large.content)).toBe(false);
    expect(await readdir(spoolDirectory)).toHaveLength(1);
    await large.release();
    await large.release();
  });

  it('archives what the check hands on, not what came', async () => {
    const doubling: BodyCheck = { ...changing(), write: (chunk) => Buffer.concat([chunk, chunk]) };
    const body = await receive(inChunks(Buffer.from('ab'), 1), doubling, receiver);
    expect(gunzipSync(await stored(body.content)).toString()).toBe('aabb');
    expect(body.length).toBe(4);
  });

  it.each([
    ['small', 1000],
    ['large', 4 * 1024 * 1024],
  ])('that is refused by its check, %s, leaves nothing behind', async (_size, length) => {
    const refusing: BodyCheck = {
      ...asReceived(),
      end: () => {
        throw new InvalidBodyError('no record');
      },
    };
    await expect(plain(randomBytes(length), refusing)).rejects.toThrow('no record');
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
    await expect(receive(long(), asReceived(), { ...receiver, maxBytes: 1_000_000 })).rejects.toThrow(
      'The body has more than',
    );
    expect(sent).toBeLessThan(1_200_000);
    const exact = await plain(Buffer.alloc(1000), asReceived(), { ...receiver, maxBytes: 1000 });
    expect(exact.length).toBe(1000);
  });

  it('that fills the disk says which limits to lower', async () => {
    const file = await open(join(spoolDirectory, 'full'), 'w');
    const full = jest.spyOn(Object.getPrototypeOf(file), 'writeFile');
    full.mockRejectedValueOnce(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    const attempt = plain(randomBytes(4 * 1024 * 1024), asReceived());
    await expect(attempt).rejects.toThrow(
      /ENOSPC: the disk .* is full; lower limits\.concurrency or limits\.maxBodyMiB$/,
    );
    full.mockRestore();
    await file.close();
    await rm(join(spoolDirectory, 'full'));
  });
});

it('what a killed predecessor left in the spool directory is removed', async () => {
  const directory = newFolder();
  await writeFile(join(directory, 'body-1-1'), 'left');
  await emptySpoolDirectory(directory);
  expect(await readdir(directory)).toEqual([]);
});

const short = logLike(4000);
/** More than is decoded at once. */
const long = logLike(300_000);
/** More than stays in memory. */
const spilled = logLike(2_200_000);

describe('a body in gzip that is archived as received', () => {
  it.each(
    Object.entries({ short, long, spilled }).flatMap(([length, content]) =>
      Object.entries(gzipStreams(content)).map(([form, coded]) => ({ length, form, content, coded })),
    ),
  )('is stored as it came: $length, $form', async ({ content, coded }) => {
    const body = await received(coded);
    const bytes = await stored(body.content);
    expect(bytes.equals(coded)).toBe(true);
    expect(execFileSync('gunzip', ['-c'], { input: bytes, maxBuffer: 2 ** 26 }).equals(content)).toBe(true);
    expect(body).toMatchObject({
      facts: { state: 'seen' },
      encodedBy: 'service',
      sha256: sha256(content),
      length: content.length,
      receivedLength: coded.length,
    });
    await body.release();
  });

  it.each(
    Object.entries({ short, long }).flatMap(([length, content]) =>
      Object.entries(damagedGzipStreams(content)).map(([fault, coded]) => ({ length, fault, coded })),
    ),
  )('is refused: $length, $fault', async ({ coded }) => {
    await expect(received(coded)).rejects.toThrow(CodingError);
    // A chunk may end where a member does.
    await expect(received(coded, asReceived(), { size: 1000 })).rejects.toThrow(CodingError);
  });

  it('is refused wherever it is cut', async () => {
    const coded = gzipSync(short.subarray(0, 300));
    for (let length = 0; length < coded.length; length += 1)
      await expect(received(coded.subarray(0, length))).rejects.toThrow(CodingError);
  });

  it('is refused whatever bit of it is wrong, or has the same content', async () => {
    const content = short.subarray(0, 100);
    const coded = gzipSync(content);
    let refused = 0;
    for (let bit = 0; bit < coded.length * 8; bit += 1) {
      const wrong = Buffer.from(coded);
      wrong.writeUInt8(wrong.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const body = await received(wrong).catch((error: unknown) => {
        expect(error).toBeInstanceOf(CodingError);
        refused += 1;
      });
      if (body === undefined) continue;
      expect(body.sha256).toBe(sha256(content));
      expect(gunzipSync(await stored(body.content)).equals(content)).toBe(true);
    }
    // What says nothing of the content: 6 bytes and a flag of the header, up to 7 bits that fill the last byte, and where
    // repeated text may as well be taken from, which depends on the version of zlib.
    expect(refused).toBeGreaterThanOrEqual((coded.length - 6) * 8 - 16);
  });
});

describe('a body in gzip', () => {
  it('of which other bytes are archived than came is decoded, and compressed as any other', async () => {
    for (const content of [short, long, spilled]) {
      const coded = gzipSync(content);
      const body = await received(coded, changing());
      const other = await plain(content);
      expect((await stored(body.content)).equals(await stored(other.content))).toBe(true);
      expect(body).toMatchObject({ encodedBy: 'collector', sha256: other.sha256, length: content.length });
      expect([body.receivedLength, other.receivedLength]).toEqual([coded.length, content.length]);
      await Promise.all([body.release(), other.release()]);
    }
  });

  it('ends at the limit of received bytes, although it has no content', async () => {
    const nothing = gzipSync('');
    const limited = { ...receiver, maxBytes: 5_000_000 };
    let sent = 0;
    // With an end, for the day on which the limit fails.
    async function* members() {
      while (sent < 10 * limited.maxBytes) {
        const thousand = Buffer.concat(Array.from({ length: 1000 }, () => nothing));
        sent += thousand.length;
        yield thousand;
      }
    }
    const attempt = receive(members(), asReceived(), limited, { signal: never });
    await expect(attempt).rejects.toThrow('The body has more than');
    expect(sent).toBeLessThan(limited.maxBytes + 100_000);
  });
});
