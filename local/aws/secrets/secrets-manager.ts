import * as z from 'zod';
import { AwsError } from '../aws-error';
import type { Account, Answer, Call } from '../call';
import { commonContext } from '../iam/authorize';
import { demandAccess, jsonAnswer, parseInput, readJsonCall } from '../json-call';
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
  const options = { targetPrefix, longestBody };
  const { principal, operation, body } = await readJsonCall(call, account, 'secretsmanager', options);
  if (operation !== `${targetPrefix}GetSecretValue`)
    throw new AwsError(501, 'NotImplemented', `The embedded endpoint has no ${operation}`);
  const { SecretId } = parseInput(inputSchema, body);
  const secret = account.secrets.find(SecretId);
  // The policies judge the ARN of a secret that is there, otherwise what the caller named.
  const context = commonContext(principal.arn, account.accountId);
  demandAccess(principal, 'secretsmanager:GetSecretValue', secret?.arn ?? SecretId, context);
  return async () => getSecretValue(secret);
}

function getSecretValue(secret: StoredSecret | undefined): Answer {
  const missing = "Secrets Manager can't find the specified secret";
  if (secret === undefined) throw new AwsError(400, 'ResourceNotFoundException', `${missing}.`);
  const { name, arn, current } = secret;
  if (current === undefined)
    throw new AwsError(400, 'ResourceNotFoundException', `${missing} value for staging label: ${currentStage}`);
  return jsonAnswer(200, {
    ARN: arn,
    Name: name,
    VersionId: current.id,
    SecretString: current.value,
    VersionStages: [currentStage],
    CreatedDate: current.createdAt / 1000,
  });
}
