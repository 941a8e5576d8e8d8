import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { Compression } from '../stack-contract';

/**
 * Level 1 of both, as measured (docs/performance.md): gzip's default level 6 makes logs a tenth smaller in twice the time;
 * zstd's level 1 makes them as small as that in half of gzip's, and its level 3 makes them no smaller.
 */
const level = 1;

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

/** Compresses content; the same content always gives the same bytes. */
export interface Compressor {
  readonly compression: Compression;
  /**
   * For short content, at once: a trip to zlib's thread pool takes a tenth of a fleet's time, and gains nothing where there
   * is one processor.
   */
  all(content: Buffer): Buffer;
  /** For long content, in zlib's thread pool; to be fed in pieces of fixed length, so that the output depends on the content alone. */
  stream(): Transform;
}

/** The chosen compression does not exist in this runtime. */
export class CompressionUnavailableError extends Error {
  override readonly name = 'CompressionUnavailableError';
}

/** @throws CompressionUnavailableError for zstd before Node 22.15 */
export function createCompressor(compression: Compression): Compressor {
  if (compression === 'gzip') {
    return {
      compression,
      all: (content) => zlib.gzipSync(content, { level, chunkSize: outputBytes(content.length) }),
      stream: () => zlib.createGzip({ level, chunkSize: streamChunkBytes }),
    };
  }
  if (typeof zlib.zstdCompressSync !== 'function')
    throw new CompressionUnavailableError(
      `Compressing with zstd failed: Node ${process.versions.node} does not have it; use Node 22.15 or newer, or archive.compression "gzip"`,
    );
  const params = { [zlib.constants.ZSTD_c_compressionLevel]: level };
  return {
    compression,
    // zstd sizes its tables by the length: two thirds of the time for 100 KB.
    all: (content) =>
      zlib.zstdCompressSync(content, {
        params,
        chunkSize: outputBytes(content.length),
        pledgedSrcSize: content.length,
      }),
    stream: () => zlib.createZstdCompress({ params, chunkSize: streamChunkBytes }),
  };
}
