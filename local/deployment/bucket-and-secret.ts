import * as z from 'zod';
import type { Bucket, LocalSecret } from '../aws/call';
import type { EncryptionKey } from '../aws/iam/authorize';
import { type ResourcePolicy, resourcePolicySchema } from '../aws/iam/policy-document';
import type { FunctionDefinition } from './function-definition';
import { type StackResource, type StackTemplate, UnsupportedTemplateError } from './stack-template';

const keySchema = z.object({ KeyPolicy: resourcePolicySchema });

/** A KMS key by its id or ARN; undefined for none. */
export function readKey(stack: StackTemplate, id: string | undefined): EncryptionKey | undefined {
  if (id === undefined) return undefined;
  const key = stack.resourcesOf('AWS::KMS::Key').find(({ identity }) => id === identity.ref || id === identity.arn);
  return { arn: key?.identity.arn ?? id, policy: key?.read(keySchema).KeyPolicy };
}

const encryptionSchema = z.object({
  ServerSideEncryptionByDefault: z.object({ KMSMasterKeyID: z.string().optional() }),
});

const bucketSchema = z.object({
  BucketEncryption: z.object({ ServerSideEncryptionConfiguration: z.tuple([encryptionSchema]) }),
});

const subjects = z.array(z.string()).default([]);
const subjectsSchema = z.object({ Bucket: z.string().optional(), Topics: subjects, Queues: subjects });
const policySchema = z.object({ PolicyDocument: resourcePolicySchema });

/** The policy of a bucket, topic or queue; undefined if it has none. */
export function readPolicy(
  stack: StackTemplate,
  { type, identity: { ref } }: StackResource,
): ResourcePolicy | undefined {
  const policy = stack.resourcesOf(`${type}Policy`).find((one) => {
    const { Bucket, Topics, Queues } = one.read(subjectsSchema);
    return [Bucket, ...Topics, ...Queues].includes(ref);
  });
  return policy?.read(policySchema).PolicyDocument;
}

/**
 * The archive's bucket, which the function's environment names, with its policy. Its objects lie in the folder itself, so
 * that the archive can be read without the bucket's name. No function knows another bucket, such as one for access logs.
 * @throws UnsupportedTemplateError if the template does not have it
 */
export function readBucket(stack: StackTemplate, { environment }: FunctionDefinition, folder: string): Bucket {
  const name = environment.ARCHIVE_BUCKET;
  const bucket = stack.resourcesOf('AWS::S3::Bucket').find(({ identity }) => identity.ref === name);
  if (name === undefined || bucket === undefined)
    throw new UnsupportedTemplateError('Cannot deploy locally: the archive is not a bucket of the template.');
  const [encryption] = bucket.read(bucketSchema).BucketEncryption.ServerSideEncryptionConfiguration;
  const key = readKey(stack, encryption.ServerSideEncryptionByDefault.KMSMasterKeyID);
  return { name, folder, policy: readPolicy(stack, bucket), key };
}

/** Strict: a stack's own secret is created without a value, and without a key whose use would have to be allowed. */
const secretSchema = z.strictObject({});

/** The secrets that the functions read, each the stack's own, or one that exists beside it: the API key's, and the heartbeat's. */
export function readSecrets(
  stack: StackTemplate,
  { environment }: FunctionDefinition,
  values: { readonly secretValue?: string | undefined; readonly heartbeatAddress?: string | undefined },
): LocalSecret[] {
  for (const secret of stack.resourcesOf('AWS::SecretsManager::Secret')) secret.read(secretSchema, ['Description']);
  const { API_KEY_SECRET: key = '', HEARTBEAT_SECRET: heartbeat } = environment;
  const { accountId, region } = stack.location;
  const existing = (name: string) => `arn:aws:secretsmanager:${region}:${accountId}:secret:${name}-Ab12Cd`;
  return [
    { arn: key.startsWith('arn:') ? key : existing(key), value: values.secretValue },
    ...(heartbeat === undefined ? [] : [{ arn: existing(heartbeat), value: values.heartbeatAddress }]),
  ];
}
