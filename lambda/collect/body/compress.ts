import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { Content } from '../put/archive-object';
import type { Spool } from './spool';

/** As measured (docs/performance.md): the default level 6 makes logs a tenth smaller in twice the time. */
const level = 1;

/**
 * Content is compressed in pieces of this many bytes: compressing the 16 KB that TLS hands over costs 1.6 times as much. What
 * is shorter than one piece needs no stream at all.
 */
const pieceBytes = 256 * 1024;

/** Length in bytes of a stream's output buffers, each a trip to the thread pool. */
const streamChunkBytes = 64 * 1024;

/**
 * Length in bytes of the output buffer for content that is in memory. Logs compress to a quarter. A larger buffer would
 * stay alive until the next garbage collection.
 */
function outputBytes(contentBytes: number): number {
  return Math.min(32 * 1024, Math.max(1024, Math.ceil(contentBytes / 3)));
}

/**
 * How many short bodies are decoded or compressed before the event loop looks at the network again. A hundred answers can
 * arrive together, and each takes up to a millisecond: without a bound, the service and the archive wait for the collector
 * meanwhile, and the collector then waits for them. 6 to 16 make no difference; one a round costs a tenth more.
 */
const bodiesPerRound = 8;

let bodies = 0;
let round: Promise<void> = Promise.resolve();

/** Resolves when another short body may be worked on, in the order of the calls. */
export function nextInRound(): Promise<void> {
  bodies += 1;
  if (bodies % bodiesPerRound === 0) round = round.then(() => new Promise((resolve) => setImmediate(resolve)));
  return round;
}

/**
 * Compresses short content at once; the same content always gives the same bytes. A trip to zlib's thread pool would take a
 * tenth of a fleet's time, and gains nothing where there is one processor.
 */
export function gzipShort(content: Buffer): Buffer {
  return gzipSync(content, { level, chunkSize: outputBytes(content.length) });
}

/** Compresses long content in zlib's thread pool. */
function createGzipStream(): Transform {
  return createGzip({ level, chunkSize: streamChunkBytes });
}

/** What comes in chunks of any length, in pieces of at least so many bytes; only the last one is shorter. */
export async function* inPieces(source: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer, undefined> {
  let chunks: Buffer[] = [];
  let length = 0;
  const take = () => {
    const [only] = chunks;
    const piece = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length);
    chunks = [];
    length = 0;
    return piece;
  };
  for await (const chunk of source) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= bytes) yield take();
  }
  if (length > 0) yield take();
}

/**
 * Compresses content, the short at once, the long piece by piece into a spool. The same content always gives the same bytes:
 * zlib's output does not depend on where its input is split.
 * @throws SpoolError; whatever the content throws
 */
export async function compress(content: AsyncIterable<Buffer>, spool: Spool): Promise<Content> {
  const pieces = inPieces(content, pieceBytes);
  const { value: first = Buffer.alloc(0) } = await pieces.next();
  if (first.length < pieceBytes) {
    await nextInRound();
    return gzipShort(first);
  }
  async function* all() {
    yield first;
    yield* pieces;
  }
  await pipeline(all, createGzipStream(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const chunk of compressed) await spool.write(chunk);
  });
  return spool.end();
}
