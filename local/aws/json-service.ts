import type * as z from 'zod';
import { AwsError } from './aws-error';
import { type Account, type Answer, type Call, type PreparedCall, readSmallBody, sha256Hex } from './call';

/** Longest body of a call, in bytes: a secret's name, or a short message to sign. */
const longestBody = 65_536;

/** What an operation needs and does, for a body of the right form. */
export interface PreparedOperation extends Pick<PreparedCall, 'accesses'> {
  /** @throws AwsError */
  readonly execute: () => Readonly<Record<string, unknown>>;
}

/**
 * One operation of a service whose calls and answers are JSON.
 * @param body parsed, and not checked yet
 * @throws AwsError
 */
export type JsonOperation = (body: unknown, account: Account) => PreparedOperation;

/** @param schema strict: an option that is not known here must not be ignored */
export function jsonOperation<Input extends z.ZodType>(
  schema: Input,
  prepare: (input: z.output<Input>, account: Account) => PreparedOperation,
): JsonOperation {
  return (body, account) => {
    const result = schema.safeParse(body);
    if (result.success) return prepare(result.data, account);
    const [issue] = result.error.issues;
    throw new AwsError(400, 'ValidationException', `${issue?.path.join('.')}: ${issue?.message}`);
  };
}

/**
 * @param operations by the header x-amz-target: `secretsmanager.GetSecretValue`
 * @throws AwsError
 */
export async function prepareJsonCall(
  operations: ReadonlyMap<string, JsonOperation>,
  { request, facts, body }: Call,
  account: Account,
): Promise<PreparedCall> {
  const name = String(request.headers['x-amz-target']);
  const operation = operations.get(name);
  if (operation === undefined) throw new AwsError(501, 'NotImplemented', `The embedded endpoint has no ${name}`);
  facts.action = name.split('.')[1] ?? '';
  const bytes = await readSmallBody(body(), longestBody);
  const { accesses, execute } = operation(parse(bytes), account);
  return { payloadHash: sha256Hex(bytes), accesses, execute: async () => jsonAnswer(200, execute()) };
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
export function jsonErrorAnswer({ status, code, message, headers }: AwsError): Answer {
  const answer = jsonAnswer(status, { __type: code, Message: message });
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

function jsonAnswer(status: number, body: Readonly<Record<string, unknown>>): Answer {
  return { status, headers: { 'content-type': 'application/x-amz-json-1.1' }, body: JSON.stringify(body) };
}
