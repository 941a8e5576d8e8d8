import { encodeKeyPath } from '../../../lambda/archive/percent-encoding';
import type { Answer, Call } from '../call';
import { invalidArgument, toXml } from './s3-answers';
import type { AuthorizedRequest } from './s3-authorization';

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
/** Keys in one page, at most. */
const largestPage = 1000;

export async function listObjects({ target }: Call, { bucket, store }: AuthorizedRequest): Promise<Answer> {
  const { prefix = '' } = target.query;
  const text = encoderOf(target.query['encoding-type']);
  const token = target.query['continuation-token'];
  const startAfter = target.query['start-after'];
  const maxKeys = Math.min(maxKeysOf(target.query['max-keys']), largestPage);
  const page = await store.list(prefix, { maxKeys, startAfter: token === undefined ? startAfter : decodeToken(token) });
  const content = {
    '@xmlns': namespace,
    Name: bucket,
    Prefix: text(prefix),
    ...(startAfter !== undefined && { StartAfter: text(startAfter) }),
    ...(token !== undefined && { ContinuationToken: token }),
    ...(page.next !== undefined && { NextContinuationToken: Buffer.from(page.next).toString('base64') }),
    KeyCount: page.objects.length,
    MaxKeys: maxKeys,
    ...encodingMember(target.query),
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

/** A folder keeps no former versions and no delete markers: every object is its own latest and only version. */
export async function listObjectVersions({ target }: Call, { bucket, store }: AuthorizedRequest): Promise<Answer> {
  const { prefix = '', 'key-marker': marker } = target.query;
  const text = encoderOf(target.query['encoding-type']);
  const maxKeys = Math.min(maxKeysOf(target.query['max-keys']), largestPage);
  const page = await store.list(prefix, { maxKeys, startAfter: marker });
  const content = {
    '@xmlns': namespace,
    Name: bucket,
    Prefix: text(prefix),
    ...(marker !== undefined && { KeyMarker: text(marker) }),
    ...(page.next !== undefined && { NextKeyMarker: text(page.next) }),
    MaxKeys: maxKeys,
    ...encodingMember(target.query),
    IsTruncated: page.next !== undefined,
    Version: page.objects.map(({ key, lastModified, etag, size }) => ({
      Key: text(key),
      VersionId: 'null',
      IsLatest: true,
      LastModified: lastModified,
      ETag: `"${etag}"`,
      Size: size,
      StorageClass: 'STANDARD',
    })),
  };
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: toXml('ListVersionsResult', content) };
}

/** How keys are written in a listing. */
function encoderOf(encoding: string | undefined): (value: string) => string {
  if (encoding !== undefined && encoding !== 'url')
    throw invalidArgument('Invalid Encoding Method specified in Request', 'encoding-type', encoding);
  return encoding === 'url' ? encodeKeyPath : (value) => value;
}

function encodingMember({ 'encoding-type': encoding }: Call['target']['query']): { EncodingType?: string } {
  return encoding === undefined ? {} : { EncodingType: encoding };
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
