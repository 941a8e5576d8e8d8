import type { Readable } from 'node:stream';
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
import { runsPrefix } from '../archive/archive-layout';
import {
  ArchiveReadError,
  type ArchiveReader,
  type ListedName,
  type ListedObject,
  type ObjectHead,
  type OpenedObject,
  type ReplacedObject,
  VersionsDeniedError,
} from './archive-reader';

/** Most deleted or overwritten objects that are named: one is too many. */
const mostReplaced = 1000;

/** An archive in an S3 bucket. */
export class S3ArchiveReader implements ArchiveReader {
  readonly location: string;
  readonly #bucket: string;
  readonly #client: S3Client;

  constructor(bucket: string, client: S3Client) {
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
      const failure = this.#asReadError(`Listing the versions of ${prefix}`, error);
      throw status === 403 ? new VersionsDeniedError(failure.message, { cause: error }) : failure;
    }
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    const command = new HeadObjectCommand({ Bucket: this.#bucket, Key: key });
    const found = await this.#client.send(command).catch((error) => this.#undefinedIfAbsent(key, error));
    return found && headOf(found);
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    // The SDK compares the checksum of what arrives with the one S3 keeps, where there is one.
    const command = new GetObjectCommand({ Bucket: this.#bucket, Key: key, ChecksumMode: 'ENABLED' });
    const found = await this.#client.send(command).catch((error) => this.#undefinedIfAbsent(key, error));
    if (found?.Body === undefined) return undefined;
    return { ...headOf(found), body: found.Body as Readable };
  }

  #undefinedIfAbsent(key: string, error: unknown): undefined {
    if (!(error instanceof NoSuchKey) && !(error instanceof NotFound)) throw this.#asReadError(`Reading ${key}`, error);
  }

  #asReadError(action: string, error: unknown): ArchiveReadError {
    const { name, message } = error as Error;
    const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
    const hint =
      status === 403
        ? `; what the reader must be allowed is in docs/reading-the-archive.md`
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

function headOf(found: HeadObjectCommandOutput | GetObjectCommandOutput): ObjectHead {
  const { ContentLength = 0, ContentType, ContentEncoding, Metadata = {} } = found;
  return { storedBytes: ContentLength, contentType: ContentType, contentEncoding: ContentEncoding, metadata: Metadata };
}
