import { addAbortSignal, pipeline } from 'node:stream';
import { isNativeError } from 'node:util/types';
import { createGunzip, type Gunzip, gunzipSync } from 'node:zlib';
import { nextInRound } from './compress';

/** Names of gzip (RFC 9110, section 8.4.1.3), the only coding that is asked for. */
const gzipNames = ['gzip', 'x-gzip'];

/** Names of "no coding at all"; only the first is one (RFC 9110, section 8.4.1), but some servers send the second. */
const noCodings = ['identity', 'none', ''];

/**
 * Names of other things that servers send as a coding: how an upload to S3 was framed, a charset, and how mail is encoded. The
 * body is mostly as it should be.
 */
const notCodings = ['aws-chunked', 'utf-8', 'utf8', 'us-ascii', '7bit', '8bit', 'binary'];

export interface ContentCoding {
  readonly isGzipped: boolean;
  /** Names that are not a coding, in lower case. */
  readonly ignored: readonly string[];
}

/** @returns undefined for another coding, or a chain of them */
export function codingOf(contentEncoding = ''): ContentCoding | undefined {
  const names = contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !noCodings.includes(name));
  const ignored = names.filter((name) => notCodings.includes(name));
  const [coding, ...others] = names.filter((name) => !notCodings.includes(name));
  if (coding === undefined) return { isGzipped: false, ignored };
  return others.length === 0 && gzipNames.includes(coding) ? { isGzipped: true, ignored } : undefined;
}

/** The body is not the gzip that it should be. The message is part of a sentence. */
export class CodingError extends Error {
  override readonly name = 'CodingError';
}

/**
 * A coded body is kept and decoded in pieces of at least this many bytes: decoding the 16 KB that TLS hands over costs four
 * times as many trips to the thread pool. A body that is shorter is decoded without any.
 */
export const codedPieceBytes = 64 * 1024;

/** Longest content that is decoded at once, in bytes. */
const shortBytes = 256 * 1024;

/**
 * Undoes gzip. It ends without an error only if the coded body is whole: each member has its checksum and its length, and
 * nothing follows the last one.
 * @param pieces the coded body; only the last one is shorter than {@link codedPieceBytes}
 * @param signal ends decoding: a body that has arrived whole may still have a thousand times its length to come
 * @param outputBytes length of the output buffers of a long body; each is a trip to the thread pool
 * @throws CodingError; whatever the source or the call throws; AbortError
 */
export async function* gunzipped(
  pieces: AsyncGenerator<Buffer, undefined>,
  signal: AbortSignal,
  outputBytes: number,
): AsyncGenerator<Buffer> {
  const { value: first = Buffer.alloc(0) } = await pieces.next();
  const isShort = first.length < codedPieceBytes;
  if (isShort) await nextInRound();
  const whole = isShort ? gunzipShort(first) : undefined;
  if (whole !== undefined) {
    yield whole;
    return;
  }
  let received = first.length;
  let isEnded = false;
  let sourceError: unknown;
  async function* counted(): AsyncGenerator<Buffer> {
    try {
      yield first;
      for await (const piece of pieces) {
        received += piece.length;
        yield piece;
      }
      isEnded = true;
    } catch (error) {
      sourceError = error;
      throw error;
    }
  }
  const decoder = createGunzip({ chunkSize: outputBytes });
  // The iteration over the decoder sees the error; the callback is only there because pipeline wants one.
  pipeline(counted(), decoder, () => undefined);
  try {
    yield* addAbortSignal(signal, decoder) as AsyncIterable<Buffer>;
  } catch (error) {
    throw sourceError ?? (signal.aborted ? error : damaged(error));
  }
  // zlib ends at a byte that cannot begin another member, and neither reads nor reports what follows.
  if (!isEnded || decoder.bytesWritten !== received) throw followed();
}

/** Decodes a whole gzip stream; undefined if the content is too long for that. */
function gunzipShort(coded: Buffer): Buffer | undefined {
  // The length that the last member declares. If it is wrong, only the number of buffers differs.
  const length = coded.length < 4 ? 0 : coded.readUInt32LE(coded.length - 4);
  if (length > shortBytes) return undefined;
  const options = { info: true, chunkSize: Math.max(1024, length + 1), maxOutputLength: shortBytes };
  try {
    // The types of Node.js do not know what the option "info" returns.
    const { buffer, engine } = gunzipSync(coded, options) as unknown as { buffer: Buffer; engine: Gunzip };
    if (engine.bytesWritten === coded.length) return buffer;
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw damaged(error);
  }
  throw followed();
}

function damaged(cause: unknown): CodingError {
  return new CodingError(`was cut short or damaged (${codeOf(cause)})`, { cause });
}

function followed(): CodingError {
  return new CodingError('has bytes behind the end of its gzip');
}

function codeOf(error: unknown): unknown {
  return isNativeError(error) && 'code' in error ? error.code : error;
}
