import type * as z from 'zod';
import { AwsError } from './aws-error';
import { type Account, type Answer, type Call, readSmallBody, sha256Hex } from './call';
import { type Access, refusalOfAny } from './iam/authorize';
import { verifyCaller } from './signature';

/** Longest body of a call, in bytes: a secret's name, or a short message to sign. */
const longestBody = 65_536;

/**
 * One operation of a service whose calls and answers are JSON.
 * @param body parsed, and not checked yet
 * @throws AwsError
 */
export type JsonOperation = (body: unknown, account: Account) => PreparedCall;

/** What the policies have to allow, and what is done then. */
export interface PreparedCall {
  readonly accesses: readonly (Access | undefined)[];
  /** @throws AwsError */
  readonly execute: () => Readonly<Record<string, unknown>>;
}

/** @param schema strict: an option that is not known here must not be ignored */
export function jsonOperation<Input extends z.ZodType>(
  schema: Input,
  prepare: (input: z.output<Input>, account: Account) => PreparedCall,
): JsonOperation {
  return (body, account) => {
    const result = schema.safeParse(body);
    if (result.success) return prepare(result.data, account);
    const [issue] = result.error.issues;
    throw new AwsError(400, 'ValidationException', `${issue?.path.join('.')}: ${issue?.message}`);
  };
}

/**
 * Checks the signature of a call, and whether the policies allow it.
 * @param operations by the header x-amz-target: `secretsmanager.GetSecretValue`
 * @returns what carries the call out
 * @throws AwsError
 */
export async function admitJsonCall(
  operations: ReadonlyMap<string, JsonOperation>,
  call: Call,
  account: Account,
): Promise<() => Promise<Answer>> {
  const name = String(call.request.headers['x-amz-target']);
  const operation = operations.get(name);
  if (operation !== undefined) call.facts.action = name.split('.')[1] ?? '';
  const body = await readSmallBody(call.body(), longestBody);
  const principal = await verifyCaller(call, account, sha256Hex(body));
  if (operation === undefined) throw new AwsError(501, 'NotImplemented', `The embedded endpoint has no ${name}`);
  const { accesses, execute } = operation(parse(body), account);
  const refusal = refusalOfAny(principal, accesses);
  if (refusal !== undefined) throw new AwsError(400, 'AccessDeniedException', refusal);
  return async () => jsonAnswer(200, execute());
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    if (error instanceof SyntaxError) throw new AwsError(400, 'SerializationException', 'the body is no JSON');
    throw error;
  }
}

/** An error as a service with JSON answers writes it. */
export function jsonErrorAnswer(error: AwsError): Answer {
  const answer = jsonAnswer(error.status, { __type: error.code, Message: error.message, ...error.details });
  return { ...answer, headers: { ...error.headers, ...answer.headers } };
}

function jsonAnswer(status: number, body: Readonly<Record<string, unknown>>): Answer {
  return { status, headers: { 'content-type': 'application/x-amz-json-1.1' }, body: JSON.stringify(body) };
}
