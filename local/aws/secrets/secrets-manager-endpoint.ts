import type { Account } from '../account';
import type { Answer } from '../answer';
import { type Exchange, readSmallBody, sha256Hex } from '../exchange';
import { authorize } from '../iam/authorize';
import { commonContext } from '../iam/common-context';
import { ServiceError } from '../service-error';
import { SignatureError, verifySignature } from '../signature';
import { callSecretsManager, isSecretsManagerOperation, parseJson, secretOf } from './secrets-manager';
import { secretsManagerSignatureAnswer } from './secrets-manager-errors';

/** Of the header x-amz-target. */
export const secretsManagerTargetPrefix = 'secretsmanager.';

/** Longest body of a call, in bytes: a value of the service's largest, escaped. */
const largestBody = 1_048_576;

/**
 * Holds a request to its signature and the policies.
 * @returns what carries it out
 * @throws ServiceError
 */
export async function admitSecretsManager(exchange: Exchange, account: Account): Promise<() => Promise<Answer>> {
  const { request, target, progress } = exchange;
  const operation = String(request.headers['x-amz-target']).slice(secretsManagerTargetPrefix.length);
  progress.action = operation;
  const { region, accountId, principals, secrets } = account;
  const body = await readSmallBody(exchange.body(), largestBody);
  const { credentials: principal } = await verifySignature(request, target, {
    service: 'secretsmanager',
    region,
    credentials: principals,
    now: Date.now(),
    payloadHash: sha256Hex(body),
  }).catch((error: unknown) => {
    throw error instanceof SignatureError ? secretsManagerSignatureAnswer(error) : error;
  });
  progress.principalArn = principal.arn;
  if (!isSecretsManagerOperation(operation))
    throw new ServiceError(501, 'NotImplemented', `The embedded endpoint has no ${operation}`);
  const input = parseJson(body.toString());
  const { resource } = secretOf(input, secrets);
  const action = `secretsmanager:${operation}`;
  const { allowed, reason } = authorize({
    identityPolicies: principal.policies,
    principalArn: principal.arn,
    action,
    resource,
    context: commonContext(principal.arn, accountId, region, Date.now()),
  });
  if (!allowed)
    throw new ServiceError(
      400,
      'AccessDeniedException',
      `User: ${principal.arn} is not authorized to perform: ${action} on resource: ${resource} ${reason}`,
    );
  return async () => callSecretsManager(operation, input, secrets);
}
