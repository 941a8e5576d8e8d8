import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { checksumText } from '../../../../archive/format/object-headers';
import { ArchiveReadError, S3ArchiveReader } from '../../../../archive/read/s3-archive-reader';
import { maxAttempts } from '../../../../lambda/aws-clients';
import { type Connection, KilledError } from '../../../support/connection';

/** What S3 says in place of an object: 403 also of what is absent, where the role may not list. */
export type Refusal = 403 | 404 | 503;

const codes = { 403: 'AccessDenied', 404: 'NoSuchKey', 503: 'SlowDown' } as const;

/** What S3 has and says. */
export interface S3Answers {
  /** The list of clusters: its bytes, or what S3 says in its place. */
  readonly list: Buffer | Refusal;
  /** What S3 says of a key of the archive; undefined: what is there. Asked for each request. */
  readonly archive: (key: string) => Refusal | undefined;
}

/** In the place of a wait: the answers decide how often it is tried. */
const atOnce: S3ClientConfig['retryStrategy'] = {
  acquireInitialRetryToken: async () => tokenOf(0),
  refreshRetryTokenForRetry: async (token) => {
    if (token.getRetryCount() + 1 >= maxAttempts) throw new Error('given up');
    return tokenOf(token.getRetryCount() + 1);
  },
  recordSuccess: () => undefined,
};

const tokenOf = (count: number) => ({ getRetryCount: () => count, getRetryDelay: () => 0 });

interface Request {
  readonly path: string;
}

interface Response {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Readable;
}

/**
 * The SDK's own client, with its retries and its errors, before a bucket in memory. Listings go past it: the role has that right,
 * and what it reads is in question.
 */
export class AnsweringReader extends S3ArchiveReader {
  readonly #connection: Connection;

  constructor(bucket: 'archive' | 'inventory', connection: Connection, answers: S3Answers, time: () => Date) {
    const handle = async ({ path }: Request) => ({ response: await answer(decodeURIComponent(path)) });
    const answer = async (path: string): Promise<Response> => {
      const key = path.slice(`/${bucket}/`.length);
      const found = bucket === 'inventory' ? answers.list : answers.archive(key);
      if (typeof found === 'number') return refused(found);
      if (found !== undefined) return object(found, time());
      const stored = await connection.open(key);
      return stored === undefined ? refused(404) : object(await bytesOf(stored.body), stored.writtenAt ?? time());
    };
    const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
    const requestHandler = { handle } as unknown as S3ClientConfig['requestHandler'];
    const options = {
      region: 'eu-central-1',
      forcePathStyle: true,
      credentials,
      requestHandler,
      retryStrategy: atOnce,
    };
    super(bucket, new S3Client(options));
    this.#connection = connection;
  }

  override list(prefix: string, after?: string) {
    return this.#connection.list(prefix, after);
  }

  override async open(key: string) {
    return super.open(key).catch((error: unknown) => {
      // For the SDK it is a connection that broke.
      if (this.#connection.isKilled) throw new KilledError('killed');
      throw error instanceof ArchiveReadError
        ? error
        : new Error('S3 answers with errors of its own', { cause: error });
    });
  }
}

async function bytesOf(body: AsyncIterable<unknown> | Iterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function object(bytes: Buffer, writtenAt: Date): Response {
  const headers = {
    'content-length': String(bytes.length),
    'last-modified': writtenAt.toUTCString(),
    'x-amz-checksum-crc32': checksumText(crc32(bytes)),
    'x-amz-checksum-type': 'FULL_OBJECT',
  };
  return { statusCode: 200, headers, body: Readable.from([bytes]) };
}

function refused(statusCode: Refusal): Response {
  const body = `<?xml version="1.0"?><Error><Code>${codes[statusCode]}</Code><Message>no</Message></Error>`;
  return { statusCode, headers: { 'content-type': 'application/xml' }, body: Readable.from([Buffer.from(body)]) };
}
