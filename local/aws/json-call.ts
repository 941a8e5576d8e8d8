import type * as z from 'zod';
import { AwsError } from './aws-error';
import { type Account, type Answer, type Call, type Principal, readSmallBody, sha256Hex } from './call';
import { authorize, type RequestContext } from './iam/authorize';
import type { PolicyDocument } from './iam/policy-document';
import { SignatureError, type SignatureOptions, type SignatureProblem, verifySignature } from './signature';

/** A call to a service whose calls and answers are JSON, its signature verified. */
export interface JsonCall {
  readonly principal: Principal;
  /** The header x-amz-target: `secretsmanager.GetSecretValue`. */
  readonly operation: string;
  /** JSON, not yet parsed. */
  readonly body: string;
}

/**
 * Reads a call and finds out who makes it.
 * @param targetPrefix what comes before the operation in the header x-amz-target
 * @throws AwsError
 */
export async function readJsonCall(
  call: Call,
  account: Account,
  service: SignatureOptions<Principal>['service'],
  { targetPrefix, longestBody }: { readonly targetPrefix: string; readonly longestBody: number },
): Promise<JsonCall> {
  const { request, facts } = call;
  const operation = String(request.headers['x-amz-target']);
  if (operation.startsWith(targetPrefix)) facts.action = operation.slice(targetPrefix.length);
  const body = await readSmallBody(call.body(), longestBody);
  const principal = await verifyCaller(call, account, service, body);
  return { principal, operation, body: body.toString() };
}

/**
 * Finds out who makes a call to any service but S3.
 * @throws AwsError
 */
export async function verifyCaller(
  { request, target, facts }: Call,
  { region, principals }: Account,
  service: SignatureOptions<Principal>['service'],
  body: Buffer,
): Promise<Principal> {
  try {
    const options = { service, region, credentials: principals, now: Date.now(), payloadHash: sha256Hex(body) };
    const principal = await verifySignature(request, target, options);
    facts.principalArn = principal.arn;
    return principal;
  } catch (error) {
    throw error instanceof SignatureError ? signatureError(error) : error;
  }
}

/** @throws AwsError if the policies of caller and resource do not allow the action */
export function demandAccess(
  { arn, policies }: Principal,
  action: string,
  resource: string,
  context: RequestContext,
  resourcePolicy?: PolicyDocument,
): void {
  const request = { identityPolicies: policies, resourcePolicy, principalArn: arn, action, resource, context };
  const { allowed, reason } = authorize(request);
  if (!allowed)
    throw new AwsError(
      400,
      'AccessDeniedException',
      `User: ${arn} is not authorized to perform: ${action} on resource: ${resource} ${reason}`,
    );
}

/** @throws AwsError */
export function parseInput<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new AwsError(400, 'SerializationException', 'the body is no JSON');
    throw error;
  }
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new AwsError(400, 'ValidationException', `${issue?.path.join('.')}: ${issue?.message}`);
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

/** The answer of every service but S3 to a request with a wrong signature. */
function signatureError({ problem, message }: SignatureError): AwsError {
  const [code, text] = signatureErrors[problem];
  const detail = problem === 'skewed' || problem === 'unsigned-header' ? message : '';
  return new AwsError(400, code, text + detail);
}

/** An error as a service with JSON answers writes it. */
export function jsonErrorAnswer(error: AwsError): Answer {
  const answer = jsonAnswer(error.status, { __type: error.code, Message: error.message, ...error.details });
  return { ...answer, headers: { ...error.headers, ...answer.headers } };
}

export function jsonAnswer(status: number, body: Readonly<Record<string, unknown>>): Answer {
  return { status, headers: { 'content-type': 'application/x-amz-json-1.1' }, body: JSON.stringify(body) };
}
