import * as z from 'zod';
import { environmentNames } from '../../lambda/stack-contract';
import type { LocalSecret } from '../aws/call';
import type { LocalBucket } from '../aws/local-aws';
import type { FunctionDefinition } from './function-definition';
import { policyDocumentSchema } from './role';
import { type StackTemplate, UnsupportedTemplateError } from './stack-template';

const bucketPolicySchema = z.object({ Bucket: z.string(), PolicyDocument: policyDocumentSchema });

/**
 * The bucket in the function's environment, with its policy. Its objects lie in the folder itself, so that the archive
 * can be read without the bucket's name. The function does not know other buckets, such as one for access logs.
 * @throws UnsupportedTemplateError if the environment names several
 */
export function readBuckets(stack: StackTemplate, { environment }: FunctionDefinition, folder: string): LocalBucket[] {
  const values = new Set(Object.values(environment));
  const names = stack
    .resourcesOf('AWS::S3::Bucket')
    .map(({ identity }) => identity.ref)
    .filter((name) => values.has(name));
  if (names.length > 1)
    throw new UnsupportedTemplateError(`Cannot tell which bucket is the archive: ${names.join(', ')}.`);
  const policies = stack.resourcesOf('AWS::S3::BucketPolicy').map((policy) => policy.read(bucketPolicySchema));
  return names.map((name) => {
    const policy = policies.find(({ Bucket }) => Bucket === name)?.PolicyDocument;
    return { name, folder, ...(policy !== undefined && { policy }) };
  });
}

const secretSchema = z.object({ SecretString: z.string().optional() });

/**
 * The stack's secrets, and the one in the function's environment: a stack may use a secret that exists beside it.
 * @param apiKeySecretValue value of the secret in the function's environment; undefined: as in the template
 */
export function readSecrets(
  stack: StackTemplate,
  { environment }: FunctionDefinition,
  apiKeySecretValue: string | undefined,
): LocalSecret[] {
  const { accountId, region } = stack.location;
  const apiKeySecret = environment[environmentNames.apiKeySecret];
  const secrets: LocalSecret[] = stack.resourcesOf('AWS::SecretsManager::Secret').map((resource) => {
    const { SecretString } = resource.read(secretSchema);
    const { arn } = resource.identity;
    return { name: nameInArn(arn), arn, ...(SecretString !== undefined && { value: SecretString }) };
  });
  const isApiKey = ({ name, arn }: LocalSecret) => apiKeySecret === name || apiKeySecret === arn;
  if (apiKeySecret !== undefined && !secrets.some(isApiKey))
    secrets.push(
      apiKeySecret.startsWith('arn:')
        ? { name: nameInArn(apiKeySecret), arn: apiKeySecret }
        : { name: apiKeySecret, arn: `arn:aws:secretsmanager:${region}:${accountId}:secret:${apiKeySecret}-Ab12Cd` },
    );
  return secrets.map((secret) =>
    isApiKey(secret) && apiKeySecretValue !== undefined ? { ...secret, value: apiKeySecretValue } : secret,
  );
}

/** The name, without the six characters that Secrets Manager puts behind it. */
function nameInArn(arn: string): string {
  return arn
    .split(':')
    .slice(6)
    .join(':')
    .replace(/-[^-]{6}$/, '');
}
