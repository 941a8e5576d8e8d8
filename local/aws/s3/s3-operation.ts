import type { IncomingHttpHeaders } from 'node:http';
import type { RequestTarget } from '../call';
import { notImplemented } from './s3-answers';

interface OperationForm {
  readonly method: string;
  readonly on: 'bucket' | 'object';
  /** The permission that it needs. */
  readonly action: string;
  readonly parameters?: readonly string[];
}

/** The operations that the collector and its readers use. */
const operations = {
  PutObject: { method: 'PUT', on: 'object', action: 's3:PutObject' },
  GetObject: { method: 'GET', on: 'object', action: 's3:GetObject' },
  HeadObject: { method: 'HEAD', on: 'object', action: 's3:GetObject' },
  DeleteObject: { method: 'DELETE', on: 'object', action: 's3:DeleteObject' },
  ListObjectVersions: {
    method: 'GET',
    on: 'bucket',
    action: 's3:ListBucketVersions',
    parameters: ['versions', 'prefix', 'max-keys', 'key-marker'],
  },
  ListObjectsV2: {
    method: 'GET',
    on: 'bucket',
    action: 's3:ListBucket',
    parameters: ['list-type', 'prefix', 'max-keys', 'continuation-token', 'start-after'],
  },
} as const satisfies Record<string, OperationForm>;

export type S3Operation = keyof typeof operations;

export interface S3Request {
  readonly operation: S3Operation;
  /** The permission that the operation needs. */
  readonly action: string;
  readonly bucket: string;
  /** Empty for a call on the bucket. */
  readonly key: string;
}

/** Headers of S3's own that are known here. To ignore another one would be worse than to refuse it. */
const knownHeaders =
  /^x-amz-(?:content-sha256|date|security-token|user-agent|checksum-mode|checksum-crc32|sdk-checksum-algorithm|meta-.*)$/;

/** Headers of HTTP that would change the answer or the object. */
const unknownHeaders = [
  'cache-control',
  'content-disposition',
  'content-language',
  'content-md5',
  'expires',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'range',
];

/**
 * The operation that a request asks for, path style.
 * @throws AwsError 501 naming what is not built here: the operation, a parameter or a header
 */
export function parseS3Request(method: string, target: RequestTarget, headers: IncomingHttpHeaders): S3Request {
  const [bucket = '', ...segments] = target.path.split('/');
  const key = segments.join('/');
  const on = key === '' ? 'bucket' : 'object';
  const parameters = Object.keys(target.query);
  const candidates = (Object.entries(operations) as [S3Operation, OperationForm][]).filter(
    ([, candidate]) => candidate.method === method && candidate.on === on,
  );
  const isOfVersions = parameters.includes('versions');
  const [operation, form] =
    candidates.find(([name]) => on === 'object' || (name === 'ListObjectVersions') === isOfVersions) ?? [];
  if (operation === undefined || form === undefined || bucket === '')
    throw notImplemented(`${method} of a${on === 'object' ? 'n' : ''} ${on} ${parameters.join(' ')}`.trim());
  // The SDK repeats the operation in `x-id`.
  const unknown = parameters.find((name) => name !== 'x-id' && form.parameters?.includes(name) !== true);
  if (unknown !== undefined) throw notImplemented(`${operation} with the parameter ${unknown}`);
  if (operation === 'ListObjectsV2' && target.query['list-type'] !== '2') throw notImplemented('ListObjects');
  for (const name of Object.keys(headers)) {
    const isKnown = name.startsWith('x-amz-') ? knownHeaders.test(name) : !unknownHeaders.includes(name);
    if (!isKnown && !(operation === 'PutObject' && name === 'if-none-match'))
      throw notImplemented(`${operation} with the header ${name}`);
  }
  return { operation, action: form.action, bucket, key };
}
