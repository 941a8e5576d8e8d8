import type { IncomingHttpHeaders } from 'node:http';
import type { RequestContext } from '../iam/authorize';
import type { RequestTarget } from '../request-target';
import type { S3Operation } from './s3-operation';

/** The permission that each operation needs. */
export const s3Actions = {
  PutObject: 's3:PutObject',
  GetObject: 's3:GetObject',
  HeadObject: 's3:GetObject',
  DeleteObject: 's3:DeleteObject',
  ListObjectsV2: 's3:ListBucket',
  HeadBucket: 's3:ListBucket',
  GetBucketLocation: 's3:GetBucketLocation',
} as const satisfies Record<S3Operation, string>;

/** Headers that are condition keys under the same name; such a key is there only when its header is. */
const conditionHeaders = [
  'if-match',
  'if-none-match',
  'x-amz-content-sha256',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
] as const;

/** Parameters of ListObjectsV2 that are condition keys under the same name. */
const conditionParameters = ['prefix', 'delimiter', 'max-keys'] as const;

/** What the policies may ask about a call to S3. */
export function s3Context(headers: IncomingHttpHeaders, target: RequestTarget): RequestContext {
  const context: Record<string, string> = {
    's3:authType': 'REST-HEADER',
    's3:signatureversion': 'AWS4-HMAC-SHA256',
    // As for aws:SecureTransport: the loopback stands in for TLS.
    's3:TlsVersion': '1.3',
  };
  for (const name of conditionHeaders) {
    const value = headers[name];
    if (typeof value === 'string') context[`s3:${name}`] = value;
  }
  for (const name of conditionParameters) {
    const value = target.query[name];
    if (value !== undefined) context[`s3:${name}`] = value;
  }
  return context;
}
