import { Readable } from 'node:stream';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { encodeKeyPath } from '../format/keys';

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

/** One request for an object. */
interface ObjectRequest {
  readonly method: 'GET' | 'PUT';
  readonly key: string;
  readonly headers: Record<string, string>;
  readonly body?: Buffer | Readable;
}

/**
 * Requests for objects of a bucket with the SDK's endpoint, credentials, signature, time limits and connections, but not
 * the thirty steps each of its requests goes through, which cost more than all else that is done for a small object. Each
 * is sent once.
 */
export class SignedRequests {
  readonly #client: S3Client;
  readonly #bucket: string;
  #target: Promise<Target> | undefined;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  /**
   * @returns the answer, whatever its status, with its body unread
   * @throws whatever keeps the body or an answer from coming; AbortError
   */
  async send({ method, key, headers, body }: ObjectRequest, abortSignal?: AbortSignal) {
    const { example, signer } = await this.#resolve();
    const { config } = this.#client;
    const request = example.clone();
    request.method = method;
    request.path = example.path.slice(0, -exampleKey.length) + encodeKeyPath(key);
    request.headers = { ...example.headers, ...headers };
    request.body = body;
    // Over TLS the signature covers the headers, with the checksum among them, and not the body a second time.
    if (request.protocol === 'https:') request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
    const signingDate = new Date(Date.now() + config.systemClockOffset);
    const signed = (await signer.sign(request, { signingDate })) as SdkRequest;
    const { response } = await config.requestHandler.handle(signed, abortSignal && { abortSignal });
    return response;
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
