import { createPublicKey, sign } from 'node:crypto';
import * as z from 'zod';
import { AwsError } from '../aws-error';
import type { Account, Answer, Call, Principal, SigningKey } from '../call';
import { commonContext } from '../iam/authorize';
import { demandAccess, jsonAnswer, parseInput, readJsonCall } from '../json-call';

/** Of the header x-amz-target. */
const targetPrefix = 'TrentService.';

/** Longest body of a call, in bytes: a message of 4,096 bytes in base64, and its names. */
const longestBody = 16_384;

const algorithm = 'ECDSA_SHA_256';

const keyId = z.string().min(1).max(2048);

/** Strict: an option that is not known here could change what is signed. */
const signSchema = z.strictObject({
  KeyId: keyId,
  // KMS hashes the message itself. DIGEST is not built here.
  Message: z.base64().transform((text) => Buffer.from(text, 'base64')),
  MessageType: z.literal('RAW'),
  SigningAlgorithm: z.literal(algorithm),
});

const publicKeySchema = z.strictObject({ KeyId: keyId });

/**
 * Checks the signature of a call to KMS, and whether the policies of caller and key allow it.
 * @returns what carries the call out
 * @throws AwsError
 */
export async function admitKmsCall(call: Call, account: Account): Promise<() => Promise<Answer>> {
  const { principal, operation, body } = await readJsonCall(call, account, 'kms', { targetPrefix, longestBody });
  switch (operation) {
    case `${targetPrefix}Sign`: {
      const { KeyId, Message } = parseInput(signSchema, body);
      if (Message.length < 1 || Message.length > 4096)
        throw new AwsError(400, 'ValidationException', 'Message: expected 1 to 4096 bytes');
      const { arn, privateKey } = demandKey(account, principal, KeyId, 'kms:Sign');
      const Signature = sign('sha256', Message, privateKey).toString('base64');
      return async () => jsonAnswer(200, { KeyId: arn, Signature, SigningAlgorithm: algorithm });
    }
    case `${targetPrefix}GetPublicKey`: {
      const { KeyId } = parseInput(publicKeySchema, body);
      const { arn, privateKey } = demandKey(account, principal, KeyId, 'kms:GetPublicKey');
      const PublicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');
      const kind = { KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY', SigningAlgorithms: [algorithm] };
      return async () => jsonAnswer(200, { KeyId: arn, PublicKey, ...kind });
    }
    default:
      throw new AwsError(501, 'NotImplemented', `The embedded endpoint has no ${operation}`);
  }
}

/** @param id ARN, or its last part */
function demandKey({ signingKeys, accountId }: Account, principal: Principal, id: string, action: string): SigningKey {
  const key = signingKeys.find(({ arn }) => arn === id || arn.endsWith(`:key/${id}`));
  const context = { ...commonContext(principal.arn, accountId), 'kms:CallerAccount': accountId };
  demandAccess(principal, action, key?.arn ?? id, context, key?.policy);
  if (key === undefined) throw new AwsError(400, 'NotFoundException', `Key '${id}' does not exist`);
  return key;
}
