import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import {
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  NoSuchKey,
  NotFound,
  paginateListObjectsV2,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { runsPrefix } from '../format/keys';
import {
  ArchiveReadError,
  type ArchiveReader,
  checkedStream,
  compareChecksum,
  type ListedName,
  type ListedObject,
  type ObjectHead,
  type OpenedObject,
  type ReplacedObject,
  smallBytes,
} from './archive-reader';
import { SignedRequests } from './signed-requests';

export { ArchiveReadError, type ArchiveReader, type OpenedObject } from './archive-reader';
export { readWhole, type WholeObject } from './read-whole';
export { SignedRequests } from './signed-requests';
export { stoppableReader } from './stoppable-reader';

/** Most deleted or overwritten objects that are named: one is too many. */
const mostReplaced = 1000;

/** An archive in an S3 bucket. */
export class S3ArchiveReader implements ArchiveReader {
  readonly location: string;
  readonly #bucket: string;
  readonly #client: S3Client;
  readonly #requests: SignedRequests;
  /** Whether objects are asked for without the SDK's own steps. */
  #isDirect = true;

  /** @param advice what to do about a request that is refused with 403 */
  constructor(
    bucket: string,
    client: S3Client,
    readonly advice = 'what the reader must be allowed is in docs/reading-the-archive.md',
  ) {
    this.#requests = new SignedRequests(client, bucket);
    this.location = `s3://${bucket}`;
    this.#bucket = bucket;
    this.#client = client;
  }

  async time(): Promise<Date | undefined> {
    const command = new ListObjectsV2Command({ Bucket: this.#bucket, Prefix: runsPrefix, MaxKeys: 1 });
    let date: string | undefined;
    command.middlewareStack.add(
      (next) => async (input) => {
        const result = await next(input);
        date = (result.response as { headers?: Record<string, string> }).headers?.date;
        return result;
      },
      { step: 'deserialize', name: 'keepDate' },
    );
    await this.#client.send(command).catch((error) => {
      throw this.#asReadError('Listing', error);
    });
    const time = new Date(date ?? Number.NaN);
    return Number.isNaN(time.getTime()) ? undefined : time;
  }

  async *list(prefix: string, after?: string): AsyncGenerator<ListedObject> {
    const input = { Bucket: this.#bucket, Prefix: prefix, StartAfter: after };
    try {
      for await (const { Contents = [] } of paginateListObjectsV2({ client: this.#client }, input))
        for (const { Key, Size = 0, LastModified = new Date(0) } of Contents)
          if (Key !== undefined) yield { key: Key, storedBytes: Size, writtenAt: LastModified };
    } catch (error) {
      throw this.#asReadError(`Listing ${prefix}`, error);
    }
  }

  async *listNames(prefix: string): AsyncGenerator<ListedName> {
    const input = { Bucket: this.#bucket, Prefix: prefix, Delimiter: '/' };
    try {
      for await (const page of paginateListObjectsV2({ client: this.#client }, input)) {
        const names = [
          ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix),
          ...(page.Contents ?? []).map(({ Key }) => Key),
        ];
        for (const name of names) if (name !== undefined) yield { name };
      }
    } catch (error) {
      throw this.#asReadError(`Listing ${prefix}`, error);
    }
  }

  async replaced(prefix: string): Promise<readonly ReplacedObject[]> {
    const replaced: ReplacedObject[] = [];
    let key: string | undefined;
    let version: string | undefined;
    try {
      do {
        const input = { Bucket: this.#bucket, Prefix: prefix, KeyMarker: key, VersionIdMarker: version };
        const page: ListObjectVersionsCommandOutput = await this.#client.send(new ListObjectVersionsCommand(input));
        const old = (page.Versions ?? []).filter(({ IsLatest }) => IsLatest === false);
        for (const { Key, LastModified } of [...old, ...(page.DeleteMarkers ?? [])])
          if (Key !== undefined) replaced.push({ key: Key, at: LastModified ?? new Date(0) });
        key = page.NextKeyMarker;
        version = page.NextVersionIdMarker;
      } while (key !== undefined && replaced.length < mostReplaced);
      return replaced;
    } catch (error) {
      const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
      // Some stores keep no versions: S3 itself does not answer so.
      if (status === 405 || status === 501) return [];
      throw this.#asReadError(`Listing the versions of ${prefix}`, error);
    }
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    const command = new HeadObjectCommand({ Bucket: this.#bucket, Key: key });
    const found = await this.#client.send(command).catch((error) => this.#undefinedIfAbsent(key, error));
    return found && headOf(found);
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    return (await this.#openDirectly(key)) ?? this.#open(key);
  }

  /**
   * By one request without the SDK's own steps. Undefined for whatever else is answered than an object: the SDK then asks,
   * which knows when to ask again, and says what is wrong.
   */
  async #openDirectly(key: string): Promise<OpenedObject | undefined> {
    if (!this.#isDirect) return undefined;
    const request = { method: 'GET', key, headers: { 'x-amz-checksum-mode': 'ENABLED' } } as const;
    const answer = await this.#requests.send(request).catch(() => undefined);
    if (answer === undefined) return undefined;
    const { statusCode, headers } = answer;
    const body = answer.body as Readable;
    // Another region, or a signature of another kind: so it would be with every object.
    if (statusCode !== 404 && statusCode >= 300 && statusCode < 500) this.#isDirect = false;
    const head = { ...directHeadOf(headers), ...versionOf(headers) };
    if (statusCode !== 200 || Number.isNaN(head.storedBytes) || !hasOwnChecksum(headers)) {
      body.destroy();
      return undefined;
    }
    const checksum = headers['x-amz-checksum-crc32'];
    if (head.storedBytes > smallBytes) return { ...head, body: checkedStream(body, checksum) };
    const bytes = await wholeOf(body).catch(() => undefined);
    if (bytes === undefined) return undefined;
    compareChecksum(crc32(bytes), checksum);
    return { ...head, body: [bytes] };
  }

  async #open(key: string): Promise<OpenedObject | undefined> {
    // The SDK compares the checksum of what arrives with the one S3 keeps, where there is one.
    const command = new GetObjectCommand({ Bucket: this.#bucket, Key: key, ChecksumMode: 'ENABLED' });
    const found = await this.#client.send(command).catch((error) => this.#undefinedIfAbsent(key, error));
    if (found?.Body === undefined) return undefined;
    const { LastModified: writtenAt, VersionId: versionId } = found;
    return { ...headOf(found), writtenAt, versionId, body: found.Body as Readable };
  }

  #undefinedIfAbsent(key: string, error: unknown): undefined {
    if (!(error instanceof NoSuchKey) && !(error instanceof NotFound)) throw this.#asReadError(`Reading ${key}`, error);
  }

  #asReadError(action: string, error: unknown): ArchiveReadError {
    const { name, message } = error as Error;
    const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
    const hint =
      name === 'InvalidObjectState'
        ? '; it lies in an archive class such as GLACIER, and has to be restored before it can be read (aws s3api restore-object)'
        : status === 403
          ? `; ${this.advice}`
          : name === 'CredentialsProviderError'
            ? '; set AWS_PROFILE, or sign in with the AWS CLI'
            : '';
    const reason = status === undefined ? message : `${status} ${name}`;
    return new ArchiveReadError(`${action} in ${this.location} failed: ${reason}${hint}`, {
      cause: error,
      isLasting: isRefusal(status),
    });
  }
}

/** 400 and 403 are also what S3 says of an object in GLACIER, or of one that was stored with a customer's key. */
function isRefusal(status = 0): boolean {
  return status >= 400 && status < 500 && ![408, 409, 429].includes(status);
}

/** How long a small object may take before the SDK asks for it, in milliseconds. */
const longestSmallMs = 30_000;

type Headers = Readonly<Record<string, string>>;

function directHeadOf(headers: Headers): ObjectHead {
  const metadata: Record<string, string> = {};
  for (const name in headers)
    if (name.startsWith('x-amz-meta-')) metadata[name.slice('x-amz-meta-'.length)] = headers[name] ?? '';
  const { 'content-type': contentType, 'content-encoding': contentEncoding } = headers;
  return { storedBytes: Number(headers['content-length']), contentType, contentEncoding, metadata };
}

function versionOf(headers: Headers): Pick<OpenedObject, 'writtenAt' | 'versionId'> {
  const { 'last-modified': written = '', 'x-amz-version-id': versionId } = headers;
  const writtenAt = new Date(written);
  return { writtenAt: Number.isNaN(writtenAt.getTime()) ? undefined : writtenAt, versionId };
}

/** By its events, which cost less than iterating over it. */
function wholeOf(body: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => body.destroy(new Error('it came too slowly')), longestSmallMs);
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.once('error', reject);
    body.once('end', () => resolve(Buffer.concat(chunks)));
    body.once('close', () => clearTimeout(timer));
  });
}

/** Whether the checksum that S3 keeps is one that is compared here, or there is none. One of another kind the SDK compares. */
function hasOwnChecksum(headers: Headers): boolean {
  for (const name in headers) if (name.startsWith('x-amz-checksum-') && !ownChecksums.includes(name)) return false;
  return true;
}

const ownChecksums = ['x-amz-checksum-crc32', 'x-amz-checksum-type'];

function headOf(found: HeadObjectCommandOutput | GetObjectCommandOutput): ObjectHead {
  const { ContentLength = 0, ContentType, ContentEncoding, Metadata = {} } = found;
  return { storedBytes: ContentLength, contentType: ContentType, contentEncoding: ContentEncoding, metadata: Metadata };
}
