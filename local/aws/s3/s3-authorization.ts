import { AwsError } from '../aws-error';
import type { Account, Bucket, Call, Principal } from '../call';
import { refusalOf } from '../iam/authorize';
import { verifyCaller } from '../signature';
import { invalidArgument, notImplemented } from './s3-answers';
import type { S3Request } from './s3-operation';

/** A call that may be carried out. */
export interface AuthorizedRequest extends S3Request {
  readonly store: Bucket['store'];
  /** The refusal that hides whether an object is there; undefined for a caller that may list the bucket. */
  readonly refusalToList: () => AwsError | undefined;
}

/**
 * Checks who signed the call, and whether the policies of caller and bucket allow it.
 * @throws AwsError
 */
export async function authorizeS3Request(call: Call, request: S3Request, account: Account): Promise<AuthorizedRequest> {
  const principal = await verify(call, account);
  const bucket = account.buckets.get(request.bucket);
  if (bucket === undefined)
    throw new AwsError(404, 'NoSuchBucket', 'The specified bucket does not exist', { BucketName: request.bucket });
  const context = contextOf(call);
  const bucketArn = `arn:aws:s3:::${request.bucket}`;
  const refused = (action: string, resource: string): AwsError | undefined => {
    const refusal = refusalOf(principal, { action, resource, resourcePolicy: bucket.policy, context });
    return refusal === undefined ? undefined : new AwsError(403, 'AccessDenied', refusal);
  };
  const error = refused(request.action, request.key === '' ? bucketArn : `${bucketArn}/${request.key}`);
  if (error !== undefined) throw error;
  return { ...request, store: bucket.store, refusalToList: () => refused('s3:ListBucket', bucketArn) };
}

async function verify(call: Call, account: Account): Promise<Principal> {
  if (Object.hasOwn(call.target.query, 'X-Amz-Signature')) throw notImplemented('presigned URLs');
  const name = 'x-amz-content-sha256';
  const hash = String(call.request.headers[name]);
  const principal = await verifyCaller(call, account, hash);
  if (hash !== 'UNSIGNED-PAYLOAD' && !/^[0-9a-f]{64}$/.test(hash))
    throw invalidArgument(`${name} must be UNSIGNED-PAYLOAD or a valid sha256 value.`, name, hash);
  return principal;
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
