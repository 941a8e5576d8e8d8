import type { IncomingMessage } from 'node:http';
import type { Account, Answer, Call, RequestTarget } from '../call';
import { notImplemented } from './s3-answers';
import { type AuthorizedRequest, authorizeS3Request, type S3Request } from './s3-authorization';
import { listObjects, listObjectVersions } from './s3-listings';
import { getObject } from './s3-reads';
import { deleteObject, putObject } from './s3-writes';

interface Operation extends Pick<S3Request, 'action' | 'onKey'> {
  readonly method: string;
  readonly on: 'bucket' | 'object';
  readonly parameters?: readonly string[];
  readonly execute: (call: Call, request: AuthorizedRequest) => Promise<Answer>;
}

/** The operations that the collector, its readers and the tests of its policies use. */
const operations: Readonly<Record<string, Operation>> = {
  PutObject: { method: 'PUT', on: 'object', action: 's3:PutObject', onKey: 'kms:GenerateDataKey', execute: putObject },
  GetObject: { method: 'GET', on: 'object', action: 's3:GetObject', onKey: 'kms:Decrypt', execute: getObject },
  HeadObject: { method: 'HEAD', on: 'object', action: 's3:GetObject', execute: getObject },
  DeleteObject: { method: 'DELETE', on: 'object', action: 's3:DeleteObject', execute: deleteObject },
  ListObjectVersions: {
    method: 'GET',
    on: 'bucket',
    action: 's3:ListBucketVersions',
    parameters: ['versions', 'prefix', 'max-keys', 'key-marker'],
    execute: listObjectVersions,
  },
  ListObjectsV2: {
    method: 'GET',
    on: 'bucket',
    action: 's3:ListBucket',
    parameters: ['list-type', 'prefix', 'max-keys', 'continuation-token', 'start-after'],
    execute: listObjects,
  },
};

/** Headers of S3's own that are known here. To ignore another one would be worse than to refuse it. */
const knownHeaders =
  /^x-amz-(?:content-sha256|date|security-token|user-agent|checksum-mode|checksum-crc32|sdk-checksum-algorithm|meta-.*)$/;

/** Headers of HTTP that would change the answer or the object. A write may have `if-none-match`. */
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
 * Finds out what a call to S3 asks for, path style, and whether it may be done.
 * @returns what carries the call out
 * @throws AwsError 501 naming what is not built here: the operation, a parameter or a header
 */
export async function admitS3Call(call: Call, account: Account): Promise<() => Promise<Answer>> {
  const { request, target, facts } = call;
  const [bucket = '', ...segments] = target.path.split('/');
  const key = segments.join('/');
  const [name, operation] = findOperation(facts.method, bucket, key, target);
  checkHeaders(name, request);
  facts.action = name;
  facts.bucket = bucket;
  if (key !== '') facts.key = key;
  const authorized = await authorizeS3Request(call, { ...operation, bucket, key }, account);
  return () => operation.execute(call, authorized);
}

function findOperation(method: string, bucket: string, key: string, { query }: RequestTarget): [string, Operation] {
  const on = key === '' ? 'bucket' : 'object';
  // The SDK repeats the operation in `x-id`.
  const parameters = Object.keys(query).filter((name) => name !== 'x-id');
  const isOfVersions = on === 'bucket' && parameters.includes('versions');
  const found = Object.entries(operations).find(
    ([name, one]) => one.method === method && one.on === on && (name === 'ListObjectVersions') === isOfVersions,
  );
  if (found === undefined || bucket === '')
    throw notImplemented(`${method} of a${on === 'object' ? 'n' : ''} ${on} ${parameters.join(' ')}`.trim());
  const [name, operation] = found;
  const unknown = parameters.find((parameter) => operation.parameters?.includes(parameter) !== true);
  if (unknown !== undefined) throw notImplemented(`${name} with the parameter ${unknown}`);
  if (name === 'ListObjectsV2' && query['list-type'] !== '2') throw notImplemented('ListObjects');
  return found;
}

function checkHeaders(name: string, { headers }: IncomingMessage): void {
  for (const header of Object.keys(headers)) {
    if (name === 'PutObject' && header === 'if-none-match') continue;
    const isKnown = header.startsWith('x-amz-') ? knownHeaders.test(header) : !unknownHeaders.includes(header);
    if (!isKnown) throw notImplemented(`${name} with the header ${header}`);
  }
}
