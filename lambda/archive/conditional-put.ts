import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { PutObjectCommand, type S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { encodeKeyPath } from './archive-layout';
import { type ArchiveObject, checksumText } from './archive-object';

/** A request as the SDK's signer and its connections take it. */
type SdkRequest = Parameters<S3Client['config']['requestHandler']['handle']>[0];
type Signer = Awaited<ReturnType<ReturnType<typeof sdkInternals>['signer']>>;

/** Where a bucket is, and what signs requests to it. */
interface Target {
  /** A request for the object `object`. */
  readonly example: SdkRequest;
  readonly signer: Signer;
}

const exampleKey = 'object';

/** What S3 says of a request that was signed with another time than its own. */
export const clockSkewError = 'RequestTimeTooSkewed';

export const notStoredError = 'NotStored';

/**
 * PutObject that never overwrites: the SDK's endpoint, credentials, signature, time limits and connections, but not the
 * thirty steps each of its requests goes through, which cost more than all else that is done for a small object. One
 * request a call; retrying is the caller's.
 */
export class ConditionalPut {
  readonly #client: S3Client;
  readonly #bucket: string;
  #target: Promise<Target> | undefined;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
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
    const { example, signer } = await this.#resolve();
    const { config } = this.#client;
    const request = example.clone();
    request.path = example.path.slice(0, -exampleKey.length) + encodeKeyPath(object.key);
    request.headers = { ...example.headers, ...headersOf(object) };
    request.body = body;
    // Over TLS the signature covers the headers, with the checksum among them, and not the body a second time.
    if (request.protocol === 'https:') request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
    const signingDate = new Date(Date.now() + config.systemClockOffset);
    const signed = (await signer.sign(request, { signingDate })) as SdkRequest;
    const { response } = await config.requestHandler.handle(signed, { abortSignal: signal });
    const answer: Readable = response.body;
    const { etag, date, 'content-length': length } = response.headers;
    const isStored = response.statusCode === 200 && etag !== undefined;
    if (isStored && length === '0') {
      answer.on('error', () => undefined).resume();
      return;
    }
    const words = await text(answer);
    if (isStored && !words.includes('<Error>')) return;
    const error = refusal(response.statusCode, words);
    // What is signed next has S3's time, as with the SDK.
    if (error.name === clockSkewError) config.systemClockOffset = (Date.parse(date ?? '') || Date.now()) - Date.now();
    throw error;
  }

  #resolve(): Promise<Target> {
    this.#target ??= this.#ask().catch((error: unknown) => {
      this.#target = undefined;
      throw error;
    });
    return this.#target;
  }

  /** Lets the SDK make one request, which is not sent, to learn where the bucket is. */
  async #ask(): Promise<Target> {
    const { resolve, signer } = sdkInternals(this.#client);
    let example: SdkRequest | undefined;
    const requestHandler = {
      handle: async (request: SdkRequest) => {
        example = request;
        return { response: { statusCode: 200, headers: {}, body: Readable.from([]) } };
      },
    };
    const command = new PutObjectCommand({
      Bucket: this.#bucket,
      Key: exampleKey,
      Body: 'x',
      ContentLength: 1,
      ChecksumCRC32: 'AAAAAA==',
    });
    await resolve(command, requestHandler);
    if (example === undefined)
      throw new Error('Asking the SDK for the address of the bucket failed: it made no request');
    const kept = ['host', 'user-agent', 'x-amz-user-agent'];
    const headers = Object.fromEntries(Object.entries(example.headers).filter(([name]) => kept.includes(name)));
    return { example: Object.assign(example, { headers }), signer: await signer() };
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

/**
 * What this file relies on beyond the SDK's types, as read in @aws-sdk/client-s3 3.1169.0: read it again when the
 * version in package.json changes.
 * - A command is resolved with the client's middleware and any request handler, and sends its finished request to that one.
 * - The client's signer is made without an authentication scheme too, and then signs for the client's own region.
 */
function sdkInternals({ config, middlewareStack }: S3Client) {
  return {
    resolve: (command: PutObjectCommand, requestHandler: Pick<typeof config.requestHandler, 'handle'>) =>
      command.resolveMiddleware(middlewareStack, { ...config, requestHandler } as never, {})(command),
    signer: config.signer as (scheme?: undefined) => ReturnType<typeof config.signer>,
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
