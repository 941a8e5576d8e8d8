import * as z from 'zod';
import { AwsError } from '../aws-error';
import { type Account, type Answer, type Call, type Principal, readSmallBody, sha256Hex } from '../call';
import { authorize, commonContext } from '../iam/authorize';
import { SignatureError, type SignatureProblem, verifySignature } from '../signature';
import type { StoredSecret } from '../store/secret-store';

/** Of the header x-amz-target. */
const targetPrefix = 'secretsmanager.';

/** Longest body of a call, in bytes: a value of the largest size, escaped. */
const longestBody = 1_048_576;

/** The one version of a secret that is kept here. */
const currentStage = 'AWSCURRENT';

/** Strict: a version or a stage would have to be looked up, and must not be ignored. */
const inputSchema = z.strictObject({ SecretId: z.string().min(1).max(2048) });

/**
 * Checks the signature of a call to Secrets Manager, and whether the policies allow it.
 * @returns what carries the call out
 * @throws AwsError
 */
export async function admitSecretsManagerCall(call: Call, account: Account): Promise<() => Promise<Answer>> {
  const { request, facts } = call;
  const operation = String(request.headers['x-amz-target']);
  if (operation.startsWith(targetPrefix)) facts.action = operation.slice(targetPrefix.length);
  const body = await readSmallBody(call.body(), longestBody);
  const principal = await verify(call, account, sha256Hex(body));
  facts.principalArn = principal.arn;
  if (operation !== `${targetPrefix}GetSecretValue`)
    throw new AwsError(501, 'NotImplemented', `The embedded endpoint has no ${operation}`);
  const { SecretId } = parseInput(body.toString());
  const secret = account.secrets.find(SecretId);
  // The policies judge the ARN of a secret that is there, otherwise what the caller named.
  demandAccess(principal, account, secret?.arn ?? SecretId);
  return async () => getSecretValue(secret);
}

async function verify(
  { request, target }: Call,
  { region, principals }: Account,
  payloadHash: string,
): Promise<Principal> {
  try {
    const options = {
      service: 'secretsmanager',
      region,
      credentials: principals,
      now: Date.now(),
      payloadHash,
    } as const;
    return await verifySignature(request, target, options);
  } catch (error) {
    throw error instanceof SignatureError ? signatureError(error) : error;
  }
}

function demandAccess(principal: Principal, { accountId }: Account, resource: string): void {
  const action = 'secretsmanager:GetSecretValue';
  const { allowed, reason } = authorize({
    identityPolicies: principal.policies,
    principalArn: principal.arn,
    action,
    resource,
    context: commonContext(principal.arn, accountId),
  });
  if (!allowed)
    throw new AwsError(
      400,
      'AccessDeniedException',
      `User: ${principal.arn} is not authorized to perform: ${action} on resource: ${resource} ${reason}`,
    );
}

function parseInput(text: string): z.infer<typeof inputSchema> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new AwsError(400, 'SerializationException', 'the body is no JSON');
    throw error;
  }
  const result = inputSchema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new AwsError(400, 'ValidationException', `${issue?.path.join('.')}: ${issue?.message}`);
}

function getSecretValue(secret: StoredSecret | undefined): Answer {
  const missing = "Secrets Manager can't find the specified secret";
  if (secret === undefined) throw new AwsError(400, 'ResourceNotFoundException', `${missing}.`);
  const { name, arn, current } = secret;
  if (current === undefined)
    throw new AwsError(400, 'ResourceNotFoundException', `${missing} value for staging label: ${currentStage}`);
  return json(200, {
    ARN: arn,
    Name: name,
    VersionId: current.id,
    SecretString: current.value,
    VersionStages: [currentStage],
    CreatedDate: current.createdAt / 1000,
  });
}

const signatureErrors: Readonly<Record<SignatureProblem, readonly [string, string]>> = {
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

function signatureError({ problem, message }: SignatureError): AwsError {
  const [code, text] = signatureErrors[problem];
  const detail = problem === 'skewed' || problem === 'unsigned-header' ? message : '';
  return new AwsError(400, code, text + detail);
}

/** An error as Secrets Manager writes it. */
export function secretsManagerErrorAnswer(error: AwsError): Answer {
  const answer = json(error.status, { __type: error.code, Message: error.message, ...error.details });
  return { ...answer, headers: { ...error.headers, ...answer.headers } };
}

function json(status: number, body: Readonly<Record<string, unknown>>): Answer {
  return { status, headers: { 'content-type': 'application/x-amz-json-1.1' }, body: JSON.stringify(body) };
}
