import { createHash, type Hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../service-error';
import { AwsChunkedBody, type ChunkSigning, incomplete } from './aws-chunked';
import {
  type ChecksumAlgorithm,
  checksumAlgorithms,
  checksumHeaderPrefix,
  checksumOfHeader,
  isChecksum,
  type RunningChecksum,
  startChecksum,
} from './checksums';

/** S3's limit for one PutObject. */
const largestObject = 5 * 1024 ** 3;

const signedStreams = ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER'];
const trailerStreams = ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER'];

/** Whether the header x-amz-content-sha256 says one of the things S3 knows. */
export function isPayloadHash(value: string): boolean {
  return (
    /^[0-9a-f]{64}$/.test(value) ||
    value === 'UNSIGNED-PAYLOAD' ||
    signedStreams.includes(value) ||
    trailerStreams.includes(value)
  );
}

/** An uploaded body: decoded, and held to everything its headers and trailers promise of it. */
export class Upload {
  private readonly length: number;
  private readonly payloadHash: string;
  private readonly algorithm: ChecksumAlgorithm;
  /** Value that the header gives; undefined: the trailer does, or nobody. */
  private readonly expected: string | undefined;
  private readonly trailers: readonly string[];
  private verified: string | undefined;

  /** @throws ServiceError for headers that cannot be kept */
  constructor(private readonly headers: IncomingHttpHeaders) {
    this.payloadHash = String(headers['x-amz-content-sha256']);
    this.length = lengthOf(headers, this.isChunked);
    this.trailers = trailersOf(headers, trailerStreams.includes(this.payloadHash));
    const promised = promisedChecksum(headers, this.trailers);
    // S3 computes this one of an object for which the client chose none.
    this.algorithm = promised?.algorithm ?? 'crc64nvme';
    this.expected = promised?.value;
    const md5 = headers['content-md5'];
    if (md5 !== undefined && Buffer.from(String(md5), 'base64').length !== 16)
      throw new ServiceError(400, 'InvalidDigest', 'The Content-MD5 you specified was invalid.');
  }

  /** Base64 by algorithm; known once the bytes are read to their end. */
  get checksums(): Readonly<Record<string, string>> {
    return this.verified === undefined ? {} : { [this.algorithm]: this.verified };
  }

  /**
   * The decoded bytes. What was yielded counts only once the iteration has ended: everything is checked then.
   * @throws ServiceError for a body that is not what was promised
   */
  async *bytes(source: AsyncIterable<Uint8Array>, signing: ChunkSigning): AsyncGenerator<Buffer> {
    const chunked = this.isChunked
      ? new AwsChunkedBody(source, {
          signing: signedStreams.includes(this.payloadHash) ? signing : undefined,
          trailers: this.trailers,
        })
      : undefined;
    const checksum = startChecksum(this.algorithm);
    const sha256 = /^[0-9a-f]{64}$/.test(this.payloadHash) ? createHash('sha256') : undefined;
    const md5 = this.headers['content-md5'] === undefined ? undefined : createHash('md5');
    let received = 0;
    for await (const part of chunked?.bytes() ?? source) {
      const chunk = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      received += chunk.length;
      if (received > this.length) throw incomplete();
      for (const sum of [checksum, sha256, md5]) sum?.update(chunk);
      yield chunk;
    }
    if (received !== this.length) throw incomplete();
    await this.verify(checksum, sha256, md5, chunked?.trailers.get(checksumHeaderPrefix + this.algorithm));
  }

  private async verify(
    checksum: RunningChecksum,
    sha256: Hash | undefined,
    md5: Hash | undefined,
    trailer: string | undefined,
  ): Promise<void> {
    if (sha256 !== undefined && sha256.digest('hex') !== this.payloadHash)
      throw new ServiceError(
        400,
        'XAmzContentSHA256Mismatch',
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
      );
    if (md5 !== undefined && md5.digest('base64') !== this.headers['content-md5'])
      throw new ServiceError(400, 'BadDigest', 'The Content-MD5 you specified did not match what we received.');
    if (trailer !== undefined && !isChecksum(this.algorithm, trailer)) throw invalidChecksum(this.algorithm);
    const expected = this.expected ?? trailer;
    this.verified = await checksum.digest();
    if (expected !== undefined && expected !== this.verified)
      throw new ServiceError(
        400,
        'BadDigest',
        `The ${this.algorithm.toUpperCase()} you specified did not match the calculated checksum.`,
      );
  }

  private get isChunked(): boolean {
    return this.payloadHash.startsWith('STREAMING-');
  }
}

function lengthOf(headers: IncomingHttpHeaders, isChunked: boolean): number {
  const value = isChunked ? headers['x-amz-decoded-content-length'] : headers['content-length'];
  if (typeof value !== 'string' || !/^\d+$/.test(value))
    throw new ServiceError(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.');
  if (Number(value) > largestObject)
    throw new ServiceError(400, 'EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size', {
      ProposedSize: value,
      MaxSizeAllowed: String(largestObject),
    });
  return Number(value);
}

function trailersOf(headers: IncomingHttpHeaders, isExpected: boolean): readonly string[] {
  const names = String(headers['x-amz-trailer'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  if (isExpected !== names.length > 0)
    throw invalidRequest(
      isExpected
        ? 'x-amz-trailer header is required with this value of x-amz-content-sha256'
        : 'x-amz-trailer is allowed only with a trailer in x-amz-content-sha256',
    );
  if (names.some((name) => checksumOfHeader(name) === undefined) || names.length > 1)
    throw invalidRequest('The value specified in the x-amz-trailer header is not supported');
  return names;
}

function promisedChecksum(
  headers: IncomingHttpHeaders,
  trailers: readonly string[],
): { algorithm: ChecksumAlgorithm; value: string | undefined } | undefined {
  const promised = checksumAlgorithms
    .map((algorithm) => ({ algorithm, value: headers[checksumHeaderPrefix + algorithm] as string | undefined }))
    .filter(({ algorithm, value }) => value !== undefined || trailers.includes(checksumHeaderPrefix + algorithm));
  if (promised.length > 1 || (promised[0]?.value !== undefined && trailers.length > 0))
    throw invalidRequest('Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.');
  const [found] = promised;
  if (found?.value !== undefined && !isChecksum(found.algorithm, found.value)) throw invalidChecksum(found.algorithm);
  const announced = headers['x-amz-sdk-checksum-algorithm'];
  if (announced !== undefined && found?.algorithm !== String(announced).toLowerCase())
    throw invalidRequest(
      'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
    );
  return found;
}

function invalidChecksum(algorithm: ChecksumAlgorithm): ServiceError {
  return invalidRequest(`Value for ${checksumHeaderPrefix}${algorithm} header is invalid.`);
}

function invalidRequest(message: string): ServiceError {
  return new ServiceError(400, 'InvalidRequest', message);
}
