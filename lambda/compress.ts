import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import type { Compression } from './archive-layout';

/**
 * Level 1 of both: measured, higher levels cost more Lambda time than the storage they save (see the README's
 * performance section). Output buffers of 64 KB rather than zlib's 16 KB: a quarter of the trips to its thread pool.
 */
const gzipOptions = { level: 1, chunkSize: 64 * 1024 } as const;

/** Compresses content; the same content always gives the same bytes. Runs in zlib's own thread pool. */
export interface Compressor {
  /** For content that is in memory anyway. */
  all(content: Buffer): Promise<Buffer>;
  /** For the rest; to be fed in pieces of fixed length, so that the output depends on the content alone. */
  stream(): Transform;
}

/** The chosen compression does not exist in this runtime. */
export class CompressionUnavailableError extends Error {
  override readonly name = 'CompressionUnavailableError';
}

/** @throws CompressionUnavailableError for zstd before Node 22.15 */
export function createCompressor(compression: Compression): Compressor {
  if (compression === 'gzip') {
    const gzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip);
    return { all: (content) => gzip(content, gzipOptions), stream: () => zlib.createGzip(gzipOptions) };
  }
  if (typeof zlib.zstdCompress !== 'function')
    throw new CompressionUnavailableError(
      `Compressing with zstd failed: Node ${process.versions.node} does not have it; use Node 22.15 or newer, or archive.compression "gzip"`,
    );
  const options = { chunkSize: 64 * 1024, params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };
  const zstd = promisify<Buffer, zlib.ZstdOptions, Buffer>(zlib.zstdCompress);
  return { all: (content) => zstd(content, options), stream: () => zlib.createZstdCompress(options) };
}
