import * as z from 'zod';
import { AwsError } from './aws-error';
import type { LocalSecret } from './call';
import { useOfKey } from './iam/authorize';
import { type JsonOperation, jsonOperation } from './json-service';

const inputSchema = z.strictObject({ SecretId: z.string().min(1).max(2048) });

export const secretOperations: ReadonlyMap<string, JsonOperation> = new Map([
  [
    'secretsmanager.GetSecretValue',
    jsonOperation(inputSchema, ({ SecretId }, { secrets, region }) => {
      const secret = findSecret(secrets, SecretId);
      return {
        accesses: [
          // The policies judge the ARN of a secret that is there, otherwise what the caller named.
          { action: 'secretsmanager:GetSecretValue', resource: secret?.arn ?? SecretId },
          useOfKey(secret?.key, 'kms:Decrypt', `secretsmanager.${region}`),
        ],
        execute: () => readValue(secret),
      };
    }),
  ],
]);

/** The secret of this name, ARN, or ARN without the six characters that the service puts behind the name. */
export function findSecret<Secret extends LocalSecret>(secrets: readonly Secret[], id: string): Secret | undefined {
  return secrets.find(({ name, arn }) => [name, arn, arn.replace(/-[^-]{6}$/, '')].includes(id));
}

function readValue(secret: LocalSecret | undefined): Readonly<Record<string, unknown>> {
  const missing = "Secrets Manager can't find the specified secret";
  if (secret === undefined) throw new AwsError(400, 'ResourceNotFoundException', `${missing}.`);
  const { name, arn, value } = secret;
  if (value === undefined)
    throw new AwsError(400, 'ResourceNotFoundException', `${missing} value for staging label: AWSCURRENT`);
  return { ARN: arn, Name: name, SecretString: value };
}
