import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { Compression } from '../archive/archive-layout';

/** The content is stored in a way this Node.js cannot read. */
export class UnreadableCompressionError extends Error {
  override readonly name = 'UnreadableCompressionError';
}

/** A decompressor as Node.js makes it, which counts the compressed bytes it used. */
export type Decompressor = Transform & { readonly bytesWritten: number };

/**
 * A stream that undoes a compression.
 * @throws UnreadableCompressionError for zstd on a Node.js that has none
 */
export function decompressor(compression: Compression): Decompressor {
  if (compression === 'gzip') return zlib.createGunzip();
  // Node.js has it from 22.15 on; the types are those of the oldest Node.js that the project runs on.
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Decompressor };
  if (createZstdDecompress === undefined)
    throw new UnreadableCompressionError(
      `it is compressed with zstd, which Node.js ${process.versions.node} cannot read: use Node.js 22.15 or newer`,
    );
  return createZstdDecompress();
}
