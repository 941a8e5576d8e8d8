import type { Account, Bucket, Principal } from '../account';
import type { Answer } from '../answer';
import { type Exchange, readSmallBody, sha256Hex } from '../exchange';
import { authorize, commonContext, type RequestContext } from '../iam/authorize';
import { ServiceError } from '../service-error';
import { SignatureError, type VerifiedSignature, verifySignature } from '../signature';
import { isS3Operation, s3Actions, s3CallOf, s3Context } from './s3-operation';
import { callS3, checkS3Call, notImplemented, s3SignatureAnswer } from './s3-service';
import { isPayloadHash } from './upload';

/** Longest body of a call that takes none, in bytes. */
const largestIgnoredBody = 65_536;

/**
 * Holds a request to its signature and the policies.
 * @returns what carries it out
 * @throws ServiceError
 */
export async function admitS3(exchange: Exchange, account: Account): Promise<() => Promise<Answer>> {
  const { request, target, progress } = exchange;
  const { headers } = request;
  const { operation, bucket: name, key } = s3CallOf(request.method ?? '', target, headers);
  progress.action = operation;
  if (name !== '') progress.bucket = name;
  if (key !== '') progress.key = key;
  const verified = await verify(exchange, account);
  const principal = verified.credentials;
  progress.principalArn = principal.arn;
  if (!isS3Operation(operation)) throw notImplemented(operation);
  checkS3Call(operation, headers, target.query, account.accountId);
  const bucket = account.buckets.get(name);
  if (bucket === undefined)
    throw new ServiceError(404, 'NoSuchBucket', 'The specified bucket does not exist', { BucketName: name });

  const context = {
    ...commonContext(principal.arn, account.accountId, account.region, Date.now()),
    ...s3Context(headers, target),
  };
  const bucketArn = `arn:aws:s3:::${name}`;
  const may = (action: string, resource: string) => decide(principal, bucket, action, resource, context);
  const decision = may(s3Actions[operation], key === '' ? bucketArn : `${bucketArn}/${key}`);
  if (!decision.allowed) throw new ServiceError(403, 'AccessDenied', decision.message);

  return async () => {
    if (operation !== 'PutObject') await checkIgnoredBody(exchange);
    return callS3(operation, {
      request,
      target,
      region: account.region,
      bucket: name,
      key,
      store: bucket.store,
      signing: { seed: verified.signature, signText: verified.signText },
      mayList: () => may('s3:ListBucket', bucketArn),
      body: exchange.body,
    });
  };
}

async function verify(
  { request, target }: Exchange,
  { region, principals }: Account,
): Promise<VerifiedSignature<Principal>> {
  const payloadHash = request.headers['x-amz-content-sha256'];
  try {
    if (Object.hasOwn(target.query, 'X-Amz-Signature')) throw notImplemented('presigned URLs');
    if (request.headers.authorization !== undefined && payloadHash === undefined)
      throw new ServiceError(400, 'InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
    if (payloadHash !== undefined && !isPayloadHash(String(payloadHash)))
      throw new ServiceError(
        400,
        'InvalidArgument',
        'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or a valid sha256 value.',
        { ArgumentName: 'x-amz-content-sha256', ArgumentValue: String(payloadHash) },
      );
    return await verifySignature(request, target, {
      service: 's3',
      region,
      credentials: principals,
      now: Date.now(),
      payloadHash: String(payloadHash),
    });
  } catch (error) {
    throw error instanceof SignatureError ? s3SignatureAnswer(error, region) : error;
  }
}

function decide(
  principal: Principal,
  bucket: Bucket,
  action: string,
  resource: string,
  context: RequestContext,
): { allowed: boolean; message: string } {
  const { allowed, reason } = authorize({
    identityPolicies: principal.policies,
    resourcePolicy: bucket.policy,
    principalArn: principal.arn,
    action,
    resource,
    context,
  });
  const message = `User: ${principal.arn} is not authorized to perform: ${action} on resource: "${resource}" ${reason}`;
  return { allowed, message };
}

async function checkIgnoredBody({ request, body }: Exchange): Promise<void> {
  const hash = String(request.headers['x-amz-content-sha256']);
  const received = await readSmallBody(body(), largestIgnoredBody);
  if (/^[0-9a-f]{64}$/.test(hash) && sha256Hex(received) !== hash)
    throw new ServiceError(
      400,
      'XAmzContentSHA256Mismatch',
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    );
}
