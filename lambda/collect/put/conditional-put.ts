import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { type S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { checksumText } from '../../../archive/format/object-headers';
import { SignedRequests } from '../../../archive/read/s3-archive-reader';
import type { ArchiveObject } from './archive-object';

/** What S3 says of a request that was signed with another time than its own. */
export const clockSkewError = 'RequestTimeTooSkewed';

export const notStoredError = 'NotStored';

/**
 * PutObject that never overwrites. One request a call; retrying is the caller's.
 */
export class ConditionalPut {
  readonly #client: S3Client;
  readonly #requests: SignedRequests;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#requests = new SignedRequests(client, bucket);
  }

  /**
   * @throws S3ServiceException for an answer that is not 200, or does not show that the object is stored; whatever keeps
   * the content or an answer from coming; AbortError
   */
  async send(object: ArchiveObject, signal: AbortSignal): Promise<void> {
    const { content } = object;
    if (Buffer.isBuffer(content)) return this.#send(object, content, signal);
    // A reading error has no listener inside the SDK and would end the process.
    const broken = new AbortController();
    const body = content.open().once('error', (error) => broken.abort(error));
    try {
      await this.#send(object, body, AbortSignal.any([signal, broken.signal]));
    } catch (error) {
      throw broken.signal.aborted ? broken.signal.reason : error;
    } finally {
      body.destroy();
    }
  }

  async #send(object: ArchiveObject, body: Buffer | Readable, signal: AbortSignal): Promise<void> {
    const response = await this.#requests.send(
      { method: 'PUT', key: object.key, headers: headersOf(object), body },
      signal,
    );
    const answer: Readable = response.body;
    const { etag, date, 'content-length': length } = response.headers;
    const isStored = response.statusCode === 200 && etag !== undefined;
    if (isStored && length === '0') {
      answer.on('error', () => undefined).resume();
      return;
    }
    const words = await text(answer);
    if (isStored && !words.includes('<Error>')) return;
    const { config } = this.#client;
    const error = refusal(response.statusCode, words);
    // What is signed next has S3's time, as with the SDK.
    if (error.name === clockSkewError) config.systemClockOffset = (Date.parse(date ?? '') || Date.now()) - Date.now();
    throw error;
  }
}

function headersOf({ content, contentType, contentEncoding, metadata = {} }: ArchiveObject): Record<string, string> {
  const isShort = Buffer.isBuffer(content);
  return {
    'content-length': String(content.length),
    'content-type': contentType,
    ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }),
    ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
    // S3 refuses what does not match. Known before the first byte is sent, it also covers the way through the file.
    'x-amz-checksum-crc32': checksumText(isShort ? crc32(content) : content.crc32),
    'if-none-match': '*',
    // Nothing long is sent in vain.
    ...(!isShort && { expect: '100-continue' }),
  };
}

function refusal(status: number, words: string): S3ServiceException {
  const part = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(words)?.[1];
  const code = part('Code');
  // A gateway's page, for example.
  const isNoAnswer = status === 200 && code === undefined;
  return new S3ServiceException({
    name: isNoAnswer ? notStoredError : (code ?? 'UnknownError'),
    message: isNoAnswer
      ? 'the answer has no ETag, so nothing shows that the object is stored'
      : (part('Message') ?? ''),
    $fault: status < 500 ? 'client' : 'server',
    // An error that comes with a 200 is one of S3's own.
    $metadata: { httpStatusCode: status === 200 && !isNoAnswer ? 503 : status },
  });
}
