import { addAbortSignal, pipeline, type Transform } from 'node:stream';
import { isNativeError } from 'node:util/types';
import * as zlib from 'node:zlib';
import { nextInRound } from './rounds';

/** A content coding that can be undone (RFC 9110, section 8.4.1). */
export type Coding = 'gzip' | 'deflate' | 'br';

const codings: Readonly<Record<string, Coding>> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'br' };

/** Names of "no coding at all"; only the first is one (RFC 9110, section 8.4.1), but some servers send the second. */
const noCodings = ['identity', 'none', ''];

/** @returns undefined for a coding, or a chain of them, that cannot be undone */
export function codingOf(contentEncoding = ''): Coding | 'none' | undefined {
  const names = contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !noCodings.includes(name));
  const [name] = names;
  if (name === undefined) return 'none';
  return names.length === 1 && Object.hasOwn(codings, name) ? codings[name] : undefined;
}

/** The body is not what its coding promises. The message is part of a sentence. */
export class CodingError extends Error {
  override readonly name = 'CodingError';
}

/** Longest content that is decoded at once, in bytes. */
const shortBytes = 256 * 1024;

/**
 * Undoes a coding. It ends without an error only if the coded body is whole: each gzip member has its checksum and its
 * length, and nothing follows the last one.
 * @param pieces of the coded body; a body that is one short piece is decoded at once, without a trip to the thread pool
 * @param signal ends decoding: a body that has arrived whole may still have a thousand times its length to come
 * @param outputBytes length of the output buffers of a long body; each is a trip to the thread pool
 * @throws CodingError; whatever the pieces throw; AbortError
 */
export async function* decoded(
  pieces: AsyncGenerator<Buffer>,
  coding: Coding,
  signal: AbortSignal,
  outputBytes: number,
): AsyncGenerator<Buffer> {
  const first = await pieces.next();
  const second = first.done ? first : await pieces.next();
  const beginning = [first, second].flatMap(({ done, value }) => (done ? [] : [value]));
  if (second.done) await nextInRound();
  const whole = coding === 'gzip' && second.done ? gunzipShort(Buffer.concat(beginning)) : undefined;
  if (whole === undefined)
    yield* decodedStream(beginning, pieces, signal, decoderOf(coding, beginning[0], outputBytes), coding);
  else yield whole;
}

async function* decodedStream(
  beginning: readonly Buffer[],
  rest: AsyncIterable<Buffer>,
  signal: AbortSignal,
  decoder: Decoder,
  coding: Coding,
): AsyncGenerator<Buffer> {
  let received = 0;
  let isEnded = false;
  let sourceError: unknown;
  async function* counted(): AsyncGenerator<Buffer> {
    try {
      for (const piece of beginning) yield piece;
      for await (const piece of rest) {
        received += piece.length;
        yield piece;
      }
      isEnded = true;
    } catch (error) {
      sourceError = error;
      throw error;
    }
  }
  for (const piece of beginning) received += piece.length;
  // The iteration over the decoder sees the error; the callback is only there because pipeline wants one.
  pipeline(counted(), decoder, () => undefined);
  try {
    yield* addAbortSignal(signal, decoder) as AsyncIterable<Buffer>;
  } catch (error) {
    throw sourceError ?? (signal.aborted ? error : damaged(error));
  }
  // zlib ends at a byte that cannot begin another member, and neither reads nor reports what follows.
  if (!isEnded || decoder.bytesWritten !== received) throw followed(coding);
}

/** A decoder of Node.js; `bytesWritten` counts the coded bytes that it used. */
type Decoder = Transform & { readonly bytesWritten: number };

/** "deflate" is zlib's format (RFC 9110, section 8.4.1.2), which begins with an 8. Some servers send what is inside it. */
function decoderOf(coding: Coding, beginning: Buffer | undefined, chunkSize: number): Decoder {
  const options = { chunkSize };
  if (coding === 'gzip') return zlib.createGunzip(options);
  if (coding === 'br') return zlib.createBrotliDecompress(options);
  const first = beginning?.[0] ?? 8;
  return (first & 0x0f) === 8 ? zlib.createInflate(options) : zlib.createInflateRaw(options);
}

/** Decodes a whole gzip stream; undefined if the content is too long for that. */
function gunzipShort(coded: Buffer): Buffer | undefined {
  // The length that the last member declares. If it is wrong, only the number of buffers differs.
  const length = coded.length < 4 ? 0 : coded.readUInt32LE(coded.length - 4);
  if (length > shortBytes) return undefined;
  const options = { info: true, chunkSize: Math.max(1024, length + 1), maxOutputLength: shortBytes };
  try {
    // The types of Node.js do not know what the option "info" returns.
    const { buffer, engine } = zlib.gunzipSync(coded, options) as unknown as { buffer: Buffer; engine: Decoder };
    if (engine.bytesWritten === coded.length) return buffer;
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw damaged(error);
  }
  throw followed('gzip');
}

function damaged(cause: unknown): CodingError {
  return new CodingError(`was cut short or damaged (${codeOf(cause)})`, { cause });
}

function followed(coding: Coding): CodingError {
  return new CodingError(`has bytes behind the end of its ${coding}`);
}

function codeOf(error: unknown): unknown {
  return isNativeError(error) && 'code' in error ? error.code : error;
}
