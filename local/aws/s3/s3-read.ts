import type { Answer } from '../answer';
import { escapeKey } from '../request-target';
import { ServiceError } from '../service-error';
import { InvalidKeyError, type ObjectMetadata, type StoredObject } from '../store/folder-store';
import type { AuthorisedCall } from './s3-call';
import { checksumHeaders, encryptionHeaders, notImplementedHeader } from './s3-write';
import { toXml } from './xml';

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
/** Keys and prefixes in one page, at most. */
const largestPage = 1000;

export async function getObject(call: AuthorisedCall): Promise<Answer> {
  const { metadata, open } = await find(call);
  const { size } = metadata;
  const asked = call.request.headers.range;
  const range = asked === undefined ? undefined : rangeOf(asked, size);
  if (range === undefined) {
    return { status: 200, headers: objectHeaders(call, metadata, size, true), ...(size > 0 && { body: () => open() }) };
  }
  return {
    status: 206,
    headers: {
      ...objectHeaders(call, metadata, range.end - range.start + 1, false),
      'content-range': `bytes ${range.start}-${range.end}/${size}`,
    },
    body: () => open(range),
  };
}

export async function headObject(call: AuthorisedCall): Promise<Answer> {
  if (call.request.headers.range !== undefined) throw notImplementedHeader('Range');
  const { metadata } = await find(call);
  return { status: 200, headers: objectHeaders(call, metadata, metadata.size, true) };
}

export async function headBucket({ region }: AuthorisedCall): Promise<Answer> {
  return { status: 200, headers: { 'x-amz-bucket-region': region, 'x-amz-access-point-alias': 'false' } };
}

export async function getBucketLocation({ region }: AuthorisedCall): Promise<Answer> {
  // The oldest region is the one without a name.
  return xml('LocationConstraint', { '#text': region === 'us-east-1' ? '' : region });
}

export async function listObjects({ bucket, store, target: { query } }: AuthorisedCall): Promise<Answer> {
  const { prefix = '', delimiter } = query;
  const encoding = query['encoding-type'];
  const token = query['continuation-token'];
  const startAfter = query['start-after'];
  if (encoding !== undefined && encoding !== 'url')
    throw invalidArgument('Invalid Encoding Method specified in Request', 'encoding-type', encoding);
  if (query['fetch-owner'] === 'true') throw notImplementedHeader('fetch-owner');
  const maxKeys = Math.min(maxKeysOf(query['max-keys']), largestPage);
  const page = await store.list(prefix, {
    delimiter,
    maxKeys,
    startAfter: token === undefined ? startAfter : decodeToken(token),
  });
  const text = (value: string): string => (encoding === 'url' ? escapeKey(value) : value);
  return xml('ListBucketResult', {
    Name: bucket,
    Prefix: text(prefix),
    ...(delimiter !== undefined && { Delimiter: text(delimiter) }),
    ...(startAfter !== undefined && { StartAfter: text(startAfter) }),
    ...(token !== undefined && { ContinuationToken: token }),
    ...(page.next !== undefined && { NextContinuationToken: Buffer.from(page.next).toString('base64') }),
    KeyCount: page.objects.length + page.commonPrefixes.length,
    MaxKeys: maxKeys,
    ...(encoding !== undefined && { EncodingType: encoding }),
    IsTruncated: page.next !== undefined,
    Contents: page.objects.map((object) => ({
      Key: text(object.key),
      LastModified: object.lastModified,
      ETag: `"${object.etag}"`,
      ...(Object.keys(object.checksums).length > 0 && {
        ChecksumAlgorithm: Object.keys(object.checksums).map((algorithm) => algorithm.toUpperCase()),
        ChecksumType: 'FULL_OBJECT',
      }),
      Size: object.size,
      StorageClass: 'STANDARD',
    })),
    CommonPrefixes: page.commonPrefixes.map((common) => ({ Prefix: text(common) })),
  });
}

async function find(call: AuthorisedCall): Promise<StoredObject> {
  for (const name of ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'])
    if (call.request.headers[name] !== undefined) throw notImplementedHeader(name);
  const found = await call.store.get(call.key).catch((error: unknown) => {
    // What cannot be stored is not there.
    if (error instanceof InvalidKeyError) return undefined;
    throw error;
  });
  if (found !== undefined) return found;
  const mayList = call.mayList();
  if (!mayList.allowed) throw new ServiceError(403, 'AccessDenied', mayList.message);
  throw new ServiceError(404, 'NoSuchKey', 'The specified key does not exist.', { Key: call.key });
}

function objectHeaders(
  { request }: AuthorisedCall,
  metadata: ObjectMetadata,
  length: number,
  isWhole: boolean,
): Record<string, string> {
  const { userMetadata, checksums, contentEncoding, headers, contentType = 'binary/octet-stream' } = metadata;
  return {
    ...headers,
    ...encryptionHeaders(headers),
    ...Object.fromEntries(Object.entries(userMetadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
    ...(isWhole && request.headers['x-amz-checksum-mode'] === 'ENABLED' && checksumHeaders(checksums)),
    ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }),
    'content-type': contentType,
    'content-length': String(length),
    'last-modified': new Date(metadata.lastModified).toUTCString(),
    etag: `"${metadata.etag}"`,
    'accept-ranges': 'bytes',
  };
}

/** The asked-for part of the bytes; undefined for a range that S3 ignores: several, or none it understands. */
function rangeOf(header: string, size: number): { start: number; end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header.trim());
  if (match === null || (match[1] === '' && match[2] === '')) return undefined;
  const [first, last] = [match[1], match[2]].map((digits) => (digits === '' ? undefined : Number(digits)));
  if (first !== undefined && last !== undefined && last < first) return undefined;
  const start = first ?? Math.max(0, size - (last ?? 0));
  const end = first === undefined ? size - 1 : Math.min(last ?? size - 1, size - 1);
  if (start >= size || end < start)
    throw new ServiceError(416, 'InvalidRange', 'The requested range is not satisfiable', {
      RangeRequested: header,
      ActualObjectSize: String(size),
    });
  return { start, end };
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

function invalidArgument(message: string, name: string, value: string): ServiceError {
  return new ServiceError(400, 'InvalidArgument', message, { ArgumentName: name, ArgumentValue: value });
}

function xml(root: string, content: Readonly<Record<string, unknown>>): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: toXml(root, { '@xmlns': namespace, ...content }),
  };
}
