import { once } from 'node:events';
import { addAbortSignal, pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

const decoders: Readonly<Record<string, (source: Readable) => Transform | Promise<Transform>>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: inflater,
  br: () => createBrotliDecompress(),
};

/** Names of "no coding at all"; only the first is one (RFC 9110, section 8.4.1), but some servers send the second. */
const noCodings = ['identity', 'none', ''];

/**
 * The content behind a Content-Encoding, streamed. Errors of the source and of the decoder end the iteration; leaving it
 * early destroys both.
 * @param signal ends decoding: a body that has arrived whole may still have a thousand times its length to come
 * @returns undefined for an encoding, or a chain of them, that cannot be decoded
 * @throws whatever ends the source before its first byte
 */
export async function decoded(source: Readable, encoding = '', signal: AbortSignal): Promise<Readable | undefined> {
  const codings = encoding
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => !noCodings.includes(coding));
  const [coding] = codings;
  if (coding === undefined) return source;
  if (codings.length > 1 || !Object.hasOwn(decoders, coding)) return undefined;
  const decoder = await decoders[coding]?.(source);
  if (decoder === undefined) return undefined;
  // The iteration over the decoder sees the error; the callback is only there because pipeline wants one.
  return addAbortSignal(
    signal,
    pipeline(source, decoder, () => undefined),
  );
}

/** "deflate" is zlib's format (RFC 9110, section 8.4.1.2), which begins with an 8. Some servers send what is inside it. */
async function inflater(source: Readable): Promise<Transform> {
  // A body of no bytes that has arrived already only ends.
  await Promise.race([once(source, 'readable'), once(source, 'end')]);
  const first: Buffer | null = source.read(1);
  if (first !== null) source.unshift(first);
  return first === null || ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
}
