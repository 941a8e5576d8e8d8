import type { IncomingMessage } from 'node:http';
import {
  type Account,
  type Answer,
  AwsError,
  type Call,
  type PreparedCall,
  type RequestTarget,
  type S3Request,
} from '../call';
import { type Access, refusalOf, useOfKey } from '../iam/authorize';
import { FolderStore } from '../store/folder-store';
import { notImplemented } from './s3-answers';
import { listObjects, listObjectVersions } from './s3-listings';
import { deleteObject, getObject, putObject } from './s3-objects';

interface Operation {
  readonly method: string;
  readonly on: 'bucket' | 'object';
  /** The permission that it needs. */
  readonly action: string;
  /** The permission that it needs on the key of an encrypted bucket. */
  readonly onKey?: string;
  readonly parameters?: readonly string[];
  readonly execute: (call: Call, request: S3Request) => Promise<Answer>;
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
    parameters: ['list-type', 'prefix', 'delimiter', 'max-keys', 'continuation-token', 'start-after', 'encoding-type'],
    execute: listObjects,
  },
};

/** Headers that are known here. To ignore another one, of HTTP or of S3, would be worse than to refuse it. */
const knownHeaders = [
  /^(?:accept|accept-encoding|authorization|connection|content-(?:encoding|length|type)|expect|host)$/,
  /^(?:user-agent|amz-sdk-.*|x-amzn-trace-id|x-amz-meta-.*)$/,
  /^x-amz-(?:checksum-crc32|checksum-mode|content-sha256|date|sdk-checksum-algorithm|security-token|user-agent)$/,
];

/**
 * Finds out what a call to S3 asks for, path style, and what it needs for that.
 * @throws AwsError 501 naming what is not built here: the operation, a parameter or a header
 */
export async function prepareS3Call(call: Call, account: Account): Promise<PreparedCall> {
  const { request, target, facts } = call;
  const [name = '', ...segments] = target.path.split('/');
  const key = segments.join('/');
  const [operationName, operation] = findOperation(facts.method, name, key, target);
  checkHeaders(operationName, request);
  facts.action = operationName;
  facts.bucket = name;
  if (key !== '') facts.key = key;
  const bucket = account.buckets.find((one) => one.name === name);
  if (bucket === undefined) throw new AwsError(404, 'NoSuchBucket', 'The specified bucket does not exist');
  const bucketArn = `arn:aws:s3:::${name}`;
  const toBucket = { resourcePolicy: bucket.policy, context: contextOf(call) };
  const resource = key === '' ? bucketArn : `${bucketArn}/${key}`;
  const listing: Access = { action: 's3:ListBucket', resource: bucketArn, ...toBucket };
  return {
    accesses: [
      { action: operation.action, resource, ...toBucket },
      operation.onKey === undefined ? undefined : useOfKey(bucket.key, operation.onKey, `s3.${account.region}`),
    ],
    execute: (principal) => {
      const refusalToList = () => {
        const refusal = refusalOf(principal, listing);
        return refusal === undefined ? undefined : new AwsError(403, 'AccessDenied', refusal);
      };
      return operation.execute(call, { key, store: new FolderStore(bucket.folder), refusalToList });
    },
  };
}

/** What the policies may ask about a call to S3. A condition key is there only if its header or parameter is. */
function contextOf({ request, target }: Call): Record<string, string> {
  const ifNoneMatch = request.headers['if-none-match'];
  const { prefix } = target.query;
  return {
    ...(ifNoneMatch !== undefined && { 's3:if-none-match': ifNoneMatch }),
    ...(prefix !== undefined && { 's3:prefix': prefix }),
  };
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
    // Only a write may have it.
    if (name === 'PutObject' && header === 'if-none-match') continue;
    if (!knownHeaders.some((known) => known.test(header))) throw notImplemented(`${name} with the header ${header}`);
  }
}
