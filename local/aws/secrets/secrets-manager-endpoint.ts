import type { Account } from '../account';
import type { Answer } from '../answer';
import { type Exchange, readSmallBody, sha256Hex } from '../exchange';
import { authorize, commonContext } from '../iam/authorize';
import { ServiceError } from '../service-error';
import { SignatureError, type SignatureProblem, verifySignature } from '../signature';
import { callSecretsManager, isSecretsManagerOperation, json, parseJson, secretOf } from './secrets-manager';

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

const signatureAnswers: Readonly<Record<SignatureProblem, readonly [string, string]>> = {
  missing: ['MissingAuthenticationTokenException', 'Missing Authentication Token'],
  malformed: ['IncompleteSignatureException', 'The Authorization header is malformed.'],
  'wrong-scope': ['InvalidSignatureException', 'Credential should be scoped to a valid region, service and date.'],
  'unknown-key': ['UnrecognizedClientException', 'The security token included in the request is invalid.'],
  'wrong-token': ['UnrecognizedClientException', 'The security token included in the request is invalid.'],
  'no-date': [
    'IncompleteSignatureException',
    "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.",
  ],
  skewed: ['InvalidSignatureException', 'Signature expired or not yet current: '],
  'unsigned-header': ['InvalidSignatureException', 'This header must be part of the signature: '],
  mismatch: [
    'InvalidSignatureException',
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
  ],
};

/** How Secrets Manager answers a request that is not signed by whom it says. */
export function secretsManagerSignatureAnswer({ problem, message }: SignatureError): ServiceError {
  const [code, text] = signatureAnswers[problem];
  const detail = problem === 'skewed' || problem === 'unsigned-header' ? message : '';
  return new ServiceError(400, code, text + detail);
}

/** An error as Secrets Manager writes it. */
export function secretsManagerErrorAnswer(error: ServiceError): Answer {
  const answer = json({ __type: error.code, Message: error.message, ...error.details }, error.status);
  return { ...answer, headers: { ...error.headers, ...answer.headers } };
}
