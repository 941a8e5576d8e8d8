import type { IncomingHttpHeaders } from 'node:http';
import type { RequestContext } from '../iam/authorize';
import type { RequestTarget } from '../request-target';

export const s3Operations = [
  'PutObject',
  'GetObject',
  'HeadObject',
  'DeleteObject',
  'ListObjectsV2',
  'HeadBucket',
  'GetBucketLocation',
] as const;

export type S3Operation = (typeof s3Operations)[number];

export interface S3Call {
  /** One of {@link s3Operations}, or the name of another that S3 has. */
  readonly operation: string;
  readonly bucket: string;
  /** Empty for a call on the bucket. */
  readonly key: string;
}

/** Parameters that name a part of a bucket or object, with the name of the part in the operation's name. */
const subresources: Readonly<Record<string, string>> = {
  acl: 'Acl',
  attributes: 'Attributes',
  cors: 'Cors',
  encryption: 'Encryption',
  'legal-hold': 'LegalHold',
  lifecycle: 'LifecycleConfiguration',
  location: 'Location',
  logging: 'Logging',
  notification: 'NotificationConfiguration',
  'object-lock': 'ObjectLockConfiguration',
  ownershipControls: 'OwnershipControls',
  policy: 'Policy',
  policyStatus: 'PolicyStatus',
  publicAccessBlock: 'PublicAccessBlock',
  replication: 'Replication',
  requestPayment: 'RequestPayment',
  retention: 'Retention',
  tagging: 'Tagging',
  torrent: 'Torrent',
  versioning: 'Versioning',
  website: 'Website',
};

/** Calls told apart by a parameter alone, by method and parameter. */
const byParameter: Readonly<Record<string, string>> = {
  'GET uploads': 'ListMultipartUploads',
  'GET versions': 'ListObjectVersions',
  'GET uploadId': 'ListParts',
  'POST delete': 'DeleteObjects',
  'POST uploads': 'CreateMultipartUpload',
  'POST uploadId': 'CompleteMultipartUpload',
  'POST select': 'SelectObjectContent',
  'POST restore': 'RestoreObject',
  'PUT uploadId': 'UploadPart',
  'DELETE uploadId': 'AbortMultipartUpload',
};

const verbs: Readonly<Record<string, string>> = {
  GET: 'Get',
  PUT: 'Put',
  DELETE: 'Delete',
  HEAD: 'Head',
  POST: 'Post',
};

/** Which operation a request asks for, path style. */
export function s3CallOf(method: string, target: RequestTarget, headers: IncomingHttpHeaders): S3Call {
  const slash = target.path.indexOf('/');
  const bucket = slash < 0 ? target.path : target.path.slice(0, slash);
  const key = slash < 0 ? '' : target.path.slice(slash + 1);
  return { operation: operationOf(method, bucket, key, target.query, headers), bucket, key };
}

function operationOf(
  method: string,
  bucket: string,
  key: string,
  query: RequestTarget['query'],
  headers: IncomingHttpHeaders,
): string {
  const verb = verbs[method] ?? method;
  if (bucket === '') return method === 'GET' ? 'ListBuckets' : `${verb}Service`;
  const kind = key === '' ? 'Bucket' : 'Object';
  for (const parameter of Object.keys(query)) {
    const name = byParameter[`${method} ${parameter}`];
    if (name !== undefined) return name;
    const part = Object.hasOwn(subresources, parameter) ? subresources[parameter] : undefined;
    if (part !== undefined) return `${verb}${kind}${part}`;
  }
  if (headers['x-amz-copy-source'] !== undefined) return 'CopyObject';
  if (kind === 'Bucket' && method === 'GET') return query['list-type'] === '2' ? 'ListObjectsV2' : 'ListObjects';
  if (kind === 'Bucket' && method === 'PUT') return 'CreateBucket';
  return `${verb}${kind}`;
}

export function isS3Operation(name: string): name is S3Operation {
  return (s3Operations as readonly string[]).includes(name);
}

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
