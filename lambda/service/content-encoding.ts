import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const decoders = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };

/**
 * The content behind a Content-Encoding, streamed. Errors of the source and of the decoder end the iteration; leaving it
 * early destroys both.
 * @param signal ends decoding: a body that has arrived whole may still have a thousand times its length to come
 * @returns undefined for an encoding, or a chain of them, that cannot be decoded
 */
export function decoded(source: Readable, encoding: string | undefined, signal: AbortSignal): Readable | undefined {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || name === '') return source;
  if (!isDecodable(name)) return undefined;
  // The iteration over the decoder sees the error; the callback is only there because pipeline wants one.
  return addAbortSignal(
    signal,
    pipeline(source, decoders[name](), () => undefined),
  );
}

function isDecodable(name: string): name is keyof typeof decoders {
  return Object.hasOwn(decoders, name);
}
