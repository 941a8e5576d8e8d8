import { AwsError } from '../aws-error';
import type { Account, Bucket, Call } from '../call';
import { type Access, refusalOfAny, useOfKey } from '../iam/authorize';
import { verifyCaller } from '../signature';
import { invalidArgument } from './s3-answers';

/** What a request asks for. */
export interface S3Request {
  /** The permission that it needs. */
  readonly action: string;
  /** The permission that it needs on the key of an encrypted bucket. */
  readonly onKey?: string;
  readonly bucket: string;
  /** Empty for a call on the bucket. */
  readonly key: string;
}

/** A call that may be carried out. */
export interface AuthorizedRequest extends S3Request {
  readonly store: Bucket['store'];
  /** The refusal that hides whether an object is there; undefined for a caller that may list the bucket. */
  readonly refusalToList: () => AwsError | undefined;
}

/**
 * Checks who signed the call, and whether the policies of caller, bucket and key allow it.
 * @throws AwsError
 */
export async function authorizeS3Request(call: Call, request: S3Request, account: Account): Promise<AuthorizedRequest> {
  const name = 'x-amz-content-sha256';
  const hash = String(call.request.headers[name]);
  const principal = await verifyCaller(call, account, hash);
  if (hash !== 'UNSIGNED-PAYLOAD' && !/^[0-9a-f]{64}$/.test(hash))
    throw invalidArgument(`${name} must be UNSIGNED-PAYLOAD or a valid sha256 value.`, name, hash);
  const bucket = account.buckets.get(request.bucket);
  if (bucket === undefined)
    throw new AwsError(404, 'NoSuchBucket', 'The specified bucket does not exist', { BucketName: request.bucket });
  const bucketArn = `arn:aws:s3:::${request.bucket}`;
  const toBucket = { resourcePolicy: bucket.policy, context: contextOf(call) };
  const refused = (...accesses: (Access | undefined)[]): AwsError | undefined => {
    const refusal = refusalOfAny(principal, accesses);
    return refusal === undefined ? undefined : new AwsError(403, 'AccessDenied', refusal);
  };
  const resource = request.key === '' ? bucketArn : `${bucketArn}/${request.key}`;
  const error = refused(
    { action: request.action, resource, ...toBucket },
    request.onKey === undefined ? undefined : useOfKey(bucket.key, request.onKey, `s3.${account.region}`),
  );
  if (error !== undefined) throw error;
  const refusalToList = () => refused({ action: 's3:ListBucket', resource: bucketArn, ...toBucket });
  return { ...request, store: bucket.store, refusalToList };
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
