import { createHash } from 'node:crypto';
import { ServiceError } from '../service-error';
import { isEqual } from '../signature';

/** How the chunks of a body are signed. */
export interface ChunkSigning {
  /** Signature of the request's headers: the first of the chain. */
  readonly seed: string;
  readonly signText: (algorithm: string, lines: readonly string[]) => Promise<string>;
}

export interface AwsChunkedOptions {
  /** Left out: the chunks are not signed. */
  readonly signing?: ChunkSigning | undefined;
  /** Names of the trailers that were announced; lower case. */
  readonly trailers: readonly string[];
}

/** Every chunk but the last holds at least as many bytes. */
const smallestChunk = 8192;
/** Longest line of a chunk's header or of a trailer, in bytes. */
const longestLine = 4096;
const emptyHash = createHash('sha256').digest('hex');

/**
 * Takes apart a body that is sent in `aws-chunked` encoding, while it arrives.
 *
 *     5;chunk-signature=<64 hex>\r\nhello\r\n0;chunk-signature=<64 hex>\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n
 */
export class AwsChunkedBody {
  /** The trailers, by lower-case name; complete once the bytes are read to their end. */
  readonly trailers = new Map<string, string>();
  private readonly chunks: AsyncIterator<Uint8Array>;
  private buffered: Buffer = Buffer.alloc(0);
  private previousSignature: string;

  constructor(
    source: AsyncIterable<Uint8Array>,
    private readonly options: AwsChunkedOptions,
  ) {
    this.chunks = source[Symbol.asyncIterator]();
    this.previousSignature = options.signing?.seed ?? '';
  }

  /**
   * The decoded bytes. A signature is checked when its chunk is complete: what was yielded before counts only once the
   * iteration has ended.
   * @throws ServiceError for a body that is cut, malformed or signed wrongly
   */
  async *bytes(): AsyncGenerator<Buffer> {
    for (let number = 1, size = Number.POSITIVE_INFINITY; ; number++) {
      const header = parseChunkHeader(await this.line());
      if (header.size > 0 && size < smallestChunk) throw tooSmall(number, size);
      size = header.size;
      if (size === 0) {
        await this.verifyChunk(header.signature, emptyHash);
        break;
      }
      const hash = this.options.signing === undefined ? undefined : createHash('sha256');
      for (let left = size; left > 0; ) {
        if (this.buffered.length === 0) await this.more();
        const part = this.buffered.subarray(0, left);
        this.buffered = this.buffered.subarray(part.length);
        left -= part.length;
        hash?.update(part);
        yield part;
      }
      if (hash !== undefined) await this.verifyChunk(header.signature, hash.digest('hex'));
      if ((await this.line()) !== '') throw incomplete();
    }
    await this.readTrailers();
    if (this.buffered.length > 0 || !(await this.chunks.next()).done) throw incomplete();
  }

  private async readTrailers(): Promise<void> {
    let signed = '';
    let signature: string | undefined;
    for (let line = await this.line(); line !== ''; line = await this.line()) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).trim().toLowerCase();
      const value = line.slice(colon + 1).trim();
      if (colon < 1) throw malformedTrailer();
      if (name === 'x-amz-trailer-signature') signature = value;
      else if (!this.options.trailers.includes(name) || this.trailers.has(name)) throw malformedTrailer();
      else {
        this.trailers.set(name, value);
        signed += `${name}:${value}\n`;
      }
    }
    if (this.trailers.size !== this.options.trailers.length) throw malformedTrailer();
    const { signing } = this.options;
    if (signing === undefined || this.options.trailers.length === 0) return;
    const hash = createHash('sha256').update(signed).digest('hex');
    const wanted = await signing.signText('AWS4-HMAC-SHA256-TRAILER', [this.previousSignature, hash]);
    if (signature === undefined || !isEqual(wanted, signature)) throw mismatch();
  }

  private async verifyChunk(signature: string | undefined, hash: string): Promise<void> {
    const { signing } = this.options;
    if (signing === undefined) return;
    const lines = [this.previousSignature, emptyHash, hash];
    const wanted = await signing.signText('AWS4-HMAC-SHA256-PAYLOAD', lines);
    if (signature === undefined || !isEqual(wanted, signature)) throw mismatch();
    this.previousSignature = signature;
  }

  private async line(): Promise<string> {
    for (;;) {
      const end = this.buffered.indexOf('\r\n');
      if (end >= 0 && end <= longestLine) {
        const line = this.buffered.toString('latin1', 0, end);
        this.buffered = this.buffered.subarray(end + 2);
        return line;
      }
      if (this.buffered.length > longestLine) throw incomplete();
      await this.more();
    }
  }

  private async more(): Promise<void> {
    const { done, value } = await this.chunks.next();
    if (done) throw incomplete();
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    this.buffered = this.buffered.length === 0 ? chunk : Buffer.concat([this.buffered, chunk]);
  }
}

function parseChunkHeader(line: string): { size: number; signature: string | undefined } {
  const match = /^([0-9a-f]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/i.exec(line);
  if (match === null) throw incomplete();
  return { size: Number.parseInt(match[1] ?? '', 16), signature: match[2] };
}

/** The body ended early, or went on in a way its encoding does not allow. */
export function incomplete(): ServiceError {
  return new ServiceError(400, 'IncompleteBody', 'The request body terminated unexpectedly');
}

function tooSmall(number: number, size: number): ServiceError {
  const message = `Only the last chunk is allowed to have a size less than ${smallestChunk} bytes`;
  return new ServiceError(403, 'InvalidChunkSizeError', message, { Chunk: `${number}`, BadChunkSize: `${size}` });
}

function malformedTrailer(): ServiceError {
  return new ServiceError(
    400,
    'MalformedTrailerError',
    'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  );
}

function mismatch(): ServiceError {
  return new ServiceError(
    403,
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  );
}
