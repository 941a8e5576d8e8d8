import { createPublicKey, sign } from 'node:crypto';
import * as z from 'zod';
import { AwsError } from './aws-error';
import type { Account, SigningKey } from './call';
import { type JsonOperation, jsonOperation, type PreparedOperation } from './json-service';

const algorithm = 'ECDSA_SHA_256';

const keyId = z.string().min(1).max(2048);

const signSchema = z.strictObject({
  KeyId: keyId,
  // KMS hashes the message itself. DIGEST is not built here.
  Message: z
    .base64()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine(({ length }) => length >= 1 && length <= 4096, 'expected 1 to 4096 bytes'),
  MessageType: z.literal('RAW'),
  SigningAlgorithm: z.literal(algorithm),
});

export const keyOperations: ReadonlyMap<string, JsonOperation> = new Map([
  [
    'TrentService.Sign',
    jsonOperation(signSchema, ({ KeyId, Message }, account) =>
      withKey(account, KeyId, 'kms:Sign', ({ arn, privateKey }) => ({
        KeyId: arn,
        Signature: sign('sha256', Message, privateKey).toString('base64'),
        SigningAlgorithm: algorithm,
      })),
    ),
  ],
  [
    'TrentService.GetPublicKey',
    jsonOperation(z.strictObject({ KeyId: keyId }), ({ KeyId }, account) =>
      withKey(account, KeyId, 'kms:GetPublicKey', ({ arn, privateKey }) => ({
        KeyId: arn,
        PublicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64'),
        KeySpec: 'ECC_NIST_P256',
        KeyUsage: 'SIGN_VERIFY',
        SigningAlgorithms: [algorithm],
      })),
    ),
  ],
]);

/** @param id ARN, or its last part */
function withKey(
  { signingKeys }: Account,
  id: string,
  action: string,
  use: (key: SigningKey) => Readonly<Record<string, unknown>>,
): PreparedOperation {
  const key = signingKeys.find(({ arn }) => arn === id || arn.endsWith(`:key/${id}`));
  return {
    accesses: [{ action, resource: key?.arn ?? id, resourcePolicy: key?.policy }],
    execute: () => {
      if (key === undefined) throw new AwsError(400, 'NotFoundException', `Key '${id}' does not exist`);
      return use(key);
    },
  };
}
