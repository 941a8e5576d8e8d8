import { createPublicKey, sign } from 'node:crypto';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import {
  type Account,
  type Answer,
  AwsError,
  type Call,
  type LocalSecret,
  type PreparedCall,
  type SigningKey,
} from './call';

/** What an operation of Secrets Manager or KMS needs and does. */
interface PreparedOperation extends Pick<PreparedCall, 'accesses'> {
  /** @throws AwsError */
  readonly execute: () => Readonly<Record<string, unknown>>;
}

/**
 * @param body parsed, and not checked yet
 * @throws AwsError
 */
type JsonOperation = (body: unknown, account: Account) => PreparedOperation;

/** @param schema strict: an option that is not known here must not be ignored */
function check<Input extends z.ZodType>(schema: Input, body: unknown): z.output<Input> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new AwsError(400, 'ValidationException', `${issue?.path.join('.')}: ${issue?.message}`);
}

const id = z.string().min(1).max(2048);

const getSecretValue: JsonOperation = (body, { secrets }) => {
  const { SecretId } = check(z.strictObject({ SecretId: id }), body);
  const secret = findSecret(secrets, SecretId);
  return {
    // The policies judge the ARN of a secret that is there, otherwise what the caller named.
    accesses: [{ action: 'secretsmanager:GetSecretValue', resource: secret?.arn ?? SecretId }],
    execute: () => readValue(secret),
  };
};

/** The secret of this name, ARN, or ARN without the six characters that the service puts behind the name. */
function findSecret(secrets: readonly LocalSecret[], id: string): LocalSecret | undefined {
  return secrets.find(({ arn }) => [nameOf(arn), arn, arn.replace(suffix, '')].includes(id));
}

const suffix = /-[^-]{6}$/;

function nameOf(arn: string): string {
  return arn.split(':').slice(6).join(':').replace(suffix, '');
}

function readValue(secret: LocalSecret | undefined): Readonly<Record<string, unknown>> {
  const missing = "Secrets Manager can't find the specified secret";
  if (secret === undefined) throw new AwsError(400, 'ResourceNotFoundException', `${missing}.`);
  const { arn, value } = secret;
  if (value === undefined)
    throw new AwsError(400, 'ResourceNotFoundException', `${missing} value for staging label: AWSCURRENT`);
  return { ARN: arn, Name: nameOf(arn), SecretString: value };
}

const algorithm = 'ECDSA_SHA_256';

const signSchema = z.strictObject({
  KeyId: id,
  // KMS hashes the message itself. DIGEST is not built here.
  Message: z
    .base64()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine(({ length }) => length >= 1 && length <= 4096, 'expected 1 to 4096 bytes'),
  MessageType: z.literal('RAW'),
  SigningAlgorithm: z.literal(algorithm),
});

const signMessage: JsonOperation = (body, account) => {
  const { KeyId, Message } = check(signSchema, body);
  return withKey(account, KeyId, 'kms:Sign', ({ privateKey }) => ({
    Signature: sign('sha256', Message, privateKey).toString('base64'),
    SigningAlgorithm: algorithm,
  }));
};

const getPublicKey: JsonOperation = (body, account) => {
  const { KeyId } = check(z.strictObject({ KeyId: id }), body);
  return withKey(account, KeyId, 'kms:GetPublicKey', ({ privateKey }) => ({
    PublicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64'),
    KeySpec: 'ECC_NIST_P256',
    KeyUsage: 'SIGN_VERIFY',
    SigningAlgorithms: [algorithm],
  }));
};

/** @param id ARN, or its last part */
function withKey(
  { signingKeys = [] }: Account,
  id: string,
  action: string,
  use: (key: SigningKey) => Readonly<Record<string, unknown>>,
): PreparedOperation {
  const key = signingKeys.find(({ arn }) => arn === id || arn.endsWith(`:key/${id}`));
  return {
    accesses: [{ action, resource: key?.arn ?? id, resourcePolicy: key?.policy }],
    execute: () => {
      if (key === undefined) throw new AwsError(400, 'NotFoundException', `Key '${id}' does not exist`);
      return { KeyId: key.arn, ...use(key) };
    },
  };
}

/** By the header x-amz-target. */
const operations = new Map([
  ['secretsmanager.GetSecretValue', getSecretValue],
  ['TrentService.Sign', signMessage],
  ['TrentService.GetPublicKey', getPublicKey],
]);

/**
 * A call to Secrets Manager or KMS, whose calls and answers are JSON.
 * @throws AwsError
 */
export async function prepareJsonCall({ request, facts }: Call, account: Account): Promise<PreparedCall> {
  const name = String(request.headers['x-amz-target']);
  const prepare = operations.get(name);
  if (prepare === undefined) throw new AwsError(501, 'NotImplemented', `The embedded endpoint has no ${name}`);
  facts.action = name.split('.')[1] ?? '';
  const { accesses, execute } = prepare(JSON.parse(await text(request)), account);
  return { accesses, execute: async () => jsonAnswer(200, execute()) };
}

/** An error as a service with JSON answers writes it. */
export function jsonErrorAnswer({ status, code, message, headers }: AwsError): Answer {
  return jsonAnswer(status, { __type: code, Message: message }, headers);
}

function jsonAnswer(status: number, body: Readonly<Record<string, unknown>>, headers: Answer['headers'] = {}): Answer {
  const type = { 'content-type': 'application/x-amz-json-1.1' };
  return { status, headers: { ...headers, ...type }, body: JSON.stringify(body) };
}
