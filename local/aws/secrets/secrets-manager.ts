import * as z from 'zod/mini';
import type { Answer } from '../answer';
import { ServiceError } from '../service-error';
import type { SecretStore, StoredSecret } from './secret-store';

const currentStage = 'AWSCURRENT';
/** The service's limit for a value, in bytes. */
const largestValue = 65_536;

const secretId = z.string().check(z.minLength(1), z.maxLength(2048));

const inputs = {
  GetSecretValue: z.object({
    SecretId: secretId,
    VersionId: z.optional(z.string()),
    VersionStage: z.optional(z.string()),
  }),
  PutSecretValue: z.object({
    SecretId: secretId,
    SecretString: z.string(),
    ClientRequestToken: z.optional(z.string()),
  }),
  DescribeSecret: z.object({ SecretId: secretId }),
};

export type SecretsManagerOperation = keyof typeof inputs;

export function isSecretsManagerOperation(name: string): name is SecretsManagerOperation {
  return Object.hasOwn(inputs, name);
}

/** The secret that a call is about: its ARN if it is there, otherwise what the caller named, for the policies to judge. */
export function secretOf(body: unknown, secrets: SecretStore): { resource: string; secret: StoredSecret | undefined } {
  const { SecretId } = parse(z.object({ SecretId: secretId }), body);
  const secret = secrets.find(SecretId);
  return { resource: secret?.arn ?? SecretId, secret };
}

/**
 * Carries out an authorised call.
 * @throws ServiceError
 */
export function callSecretsManager(operation: SecretsManagerOperation, body: unknown, secrets: SecretStore): Answer {
  const { secret } = secretOf(body, secrets);
  // The input is read in full first: a malformed call is malformed whatever it names.
  switch (operation) {
    case 'GetSecretValue':
      return getSecretValue(parse(inputs.GetSecretValue, body), present(secret));
    case 'PutSecretValue':
      return putSecretValue(parse(inputs.PutSecretValue, body), present(secret), secrets);
    case 'DescribeSecret': {
      const { name, arn, current } = present(secret);
      const versions = current === undefined ? {} : { [current.id]: [currentStage] };
      return json({ ARN: arn, Name: name, VersionIdsToStages: versions });
    }
  }
}

/** The body as JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new ServiceError(400, 'SerializationException', 'the body is no JSON');
    throw error;
  }
}

export function json(body: Readonly<Record<string, unknown>>, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/x-amz-json-1.1' }, body: JSON.stringify(body) };
}

function getSecretValue(input: z.infer<typeof inputs.GetSecretValue>, { name, arn, current }: StoredSecret): Answer {
  const { VersionId, VersionStage } = input;
  if (VersionId !== undefined && VersionId !== current?.id) throw noValue(`VersionId: ${VersionId}`);
  if (current === undefined || (VersionStage ?? currentStage) !== currentStage)
    throw noValue(`staging label: ${VersionStage ?? currentStage}`);
  return json({
    ARN: arn,
    Name: name,
    VersionId: current.id,
    SecretString: current.value,
    VersionStages: [currentStage],
    CreatedDate: current.createdAt / 1000,
  });
}

function putSecretValue(
  { SecretString, ClientRequestToken }: z.infer<typeof inputs.PutSecretValue>,
  secret: StoredSecret,
  secrets: SecretStore,
): Answer {
  if (Buffer.byteLength(SecretString) > largestValue)
    throw new ServiceError(400, 'InvalidParameterException', `SecretString is longer than ${largestValue} bytes.`);
  secrets.set(secret, SecretString, ClientRequestToken);
  const VersionId = secrets.find(secret.name)?.current?.id;
  return json({ ARN: secret.arn, Name: secret.name, VersionId, VersionStages: [currentStage] });
}

function present(secret: StoredSecret | undefined): StoredSecret {
  if (secret !== undefined) return secret;
  throw new ServiceError(400, 'ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
}

function noValue(what: string): ServiceError {
  return new ServiceError(
    400,
    'ResourceNotFoundException',
    `Secrets Manager can't find the specified secret value for ${what}`,
  );
}

function parse<T extends z.ZodMiniType>(schema: T, body: unknown): z.infer<T> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ServiceError(400, 'ValidationException', `${issue?.path.join('.')}: ${issue?.message}`);
}
