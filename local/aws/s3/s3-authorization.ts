import { AwsError } from '../aws-error';
import type { Account, Bucket, Call, Principal } from '../call';
import { authorize, commonContext, type RequestContext } from '../iam/authorize';
import { SignatureError, verifySignature } from '../signature';
import { invalidArgument, notImplemented, signatureError } from './s3-answers';
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
  call.facts.principalArn = principal.arn;
  const bucket = account.buckets.get(request.bucket);
  if (bucket === undefined)
    throw new AwsError(404, 'NoSuchBucket', 'The specified bucket does not exist', { BucketName: request.bucket });
  const context = contextOf(call, principal, account);
  const bucketArn = `arn:aws:s3:::${request.bucket}`;
  const refusalOf = (action: string, resource: string) => refusal(principal, bucket, action, resource, context);
  const refused = refusalOf(request.action, request.key === '' ? bucketArn : `${bucketArn}/${request.key}`);
  if (refused !== undefined) throw refused;
  return { ...request, store: bucket.store, refusalToList: () => refusalOf('s3:ListBucket', bucketArn) };
}

async function verify({ request, target }: Call, { region, principals }: Account): Promise<Principal> {
  const payloadHash = request.headers['x-amz-content-sha256']?.toString();
  if (Object.hasOwn(target.query, 'X-Amz-Signature')) throw notImplemented('presigned URLs');
  if (request.headers.authorization !== undefined) checkPayloadHash(payloadHash);
  const options = { service: 's3', region, credentials: principals, now: Date.now() } as const;
  try {
    return await verifySignature(request, target, { ...options, payloadHash: payloadHash ?? '' });
  } catch (error) {
    throw error instanceof SignatureError ? signatureError(error, region) : error;
  }
}

function checkPayloadHash(hash: string | undefined): void {
  const name = 'x-amz-content-sha256';
  if (hash === undefined)
    throw new AwsError(400, 'InvalidRequest', `Missing required header for this request: ${name}`);
  if (hash !== 'UNSIGNED-PAYLOAD' && !/^[0-9a-f]{64}$/.test(hash))
    throw invalidArgument(`${name} must be UNSIGNED-PAYLOAD or a valid sha256 value.`, name, hash);
}

/** What the policies may ask about a call to S3. A condition key is there only if its header or parameter is. */
function contextOf({ request, target }: Call, principal: Principal, { accountId }: Account): RequestContext {
  const ifNoneMatch = request.headers['if-none-match'];
  const { prefix } = target.query;
  return {
    ...commonContext(principal.arn, accountId),
    ...(ifNoneMatch !== undefined && { 's3:if-none-match': ifNoneMatch }),
    ...(prefix !== undefined && { 's3:prefix': prefix }),
  };
}

function refusal(
  { arn, policies }: Principal,
  { policy }: Bucket,
  action: string,
  resource: string,
  context: RequestContext,
): AwsError | undefined {
  const request = { identityPolicies: policies, resourcePolicy: policy, principalArn: arn, action, resource, context };
  const { allowed, reason } = authorize(request);
  if (allowed) return undefined;
  const message = `User: ${arn} is not authorized to perform: ${action} on resource: "${resource}" ${reason}`;
  return new AwsError(403, 'AccessDenied', message);
}
