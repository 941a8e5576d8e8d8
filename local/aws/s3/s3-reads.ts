import { encodeKeyPath } from '../../../lambda/archive/percent-encoding';
import { AwsError } from '../aws-error';
import type { Answer, Call } from '../call';
import type { StoredObject } from '../store/folder-store';
import { InvalidKeyError } from '../store/key-path';
import { invalidArgument, toXml } from './s3-answers';
import type { AuthorizedRequest } from './s3-authorization';
import { checksumHeaders, userMetadataPrefix } from './s3-writes';

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
/** Keys in one page, at most. */
const largestPage = 1000;

export async function getObject(call: Call, request: AuthorizedRequest): Promise<Answer> {
  const { metadata, open } = await find(request);
  return { status: 200, headers: objectHeaders(call, metadata), ...(metadata.size > 0 && { body: open }) };
}

export async function headObject(call: Call, request: AuthorizedRequest): Promise<Answer> {
  const { metadata } = await find(request);
  return { status: 200, headers: objectHeaders(call, metadata) };
}

export async function listObjects({ target }: Call, { bucket, store }: AuthorizedRequest): Promise<Answer> {
  const { prefix = '' } = target.query;
  const encoding = target.query['encoding-type'];
  const token = target.query['continuation-token'];
  const startAfter = target.query['start-after'];
  if (encoding !== undefined && encoding !== 'url')
    throw invalidArgument('Invalid Encoding Method specified in Request', 'encoding-type', encoding);
  const maxKeys = Math.min(maxKeysOf(target.query['max-keys']), largestPage);
  const page = await store.list(prefix, { maxKeys, startAfter: token === undefined ? startAfter : decodeToken(token) });
  const text = (value: string): string => (encoding === 'url' ? encodeKeyPath(value) : value);
  const content = {
    '@xmlns': namespace,
    Name: bucket,
    Prefix: text(prefix),
    ...(startAfter !== undefined && { StartAfter: text(startAfter) }),
    ...(token !== undefined && { ContinuationToken: token }),
    ...(page.next !== undefined && { NextContinuationToken: Buffer.from(page.next).toString('base64') }),
    KeyCount: page.objects.length,
    MaxKeys: maxKeys,
    ...(encoding !== undefined && { EncodingType: encoding }),
    IsTruncated: page.next !== undefined,
    Contents: page.objects.map(({ key, lastModified, etag, size }) => ({
      Key: text(key),
      LastModified: lastModified,
      ETag: `"${etag}"`,
      Size: size,
      StorageClass: 'STANDARD',
    })),
  };
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: toXml('ListBucketResult', content) };
}

async function find({ store, key, refusalToList }: AuthorizedRequest): Promise<StoredObject> {
  const found = await store.get(key).catch((error: unknown) => {
    // A key that cannot be stored has no object.
    if (error instanceof InvalidKeyError) return undefined;
    throw error;
  });
  if (found === undefined)
    throw refusalToList() ?? new AwsError(404, 'NoSuchKey', 'The specified key does not exist.', { Key: key });
  const { damage } = found.metadata;
  if (damage !== undefined) throw new Error(`Reading ${key} failed: ${damage}`);
  return found;
}

function objectHeaders({ request }: Call, metadata: StoredObject['metadata']): Record<string, string> {
  const { userMetadata, checksums, contentEncoding, contentType = 'binary/octet-stream' } = metadata;
  return {
    ...Object.fromEntries(Object.entries(userMetadata).map(([name, value]) => [userMetadataPrefix + name, value])),
    ...(request.headers['x-amz-checksum-mode'] === 'ENABLED' && checksumHeaders(checksums)),
    ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }),
    'content-type': contentType,
    'content-length': String(metadata.size),
    'last-modified': new Date(metadata.lastModified).toUTCString(),
    etag: `"${metadata.etag}"`,
  };
}

function maxKeysOf(value: string | undefined): number {
  if (value === undefined || value === '') return largestPage;
  if (!/^\d{1,10}$/.test(value))
    throw invalidArgument('Provided max-keys not an integer or within integer range', 'max-keys', value);
  return Number(value);
}

function decodeToken(token: string): string {
  const text = Buffer.from(token, 'base64').toString();
  if (text === '' || Buffer.from(text).toString('base64') !== token)
    throw invalidArgument('The continuation token provided is incorrect', 'continuation-token', token);
  return text;
}
