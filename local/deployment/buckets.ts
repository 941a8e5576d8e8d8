import * as z from 'zod';
import type { PolicyDocument } from '../aws/iam/policy-document';
import type { LocalBucket } from '../aws/local-aws';
import type { FunctionDefinition } from './function-definition';
import type { StackTemplate } from './stack-template';
import { UnsupportedTemplateError } from './template';

const bucketPolicySchema = z.object({
  Bucket: z.string(),
  PolicyDocument: z.custom<PolicyDocument>((value) => typeof value === 'object' && value !== null),
});

/**
 * The bucket that the function is told about, with its policy. It lies in the folder itself, so that the archive can be
 * read without knowing a name. Other buckets, such as one for access logs, the function cannot know and so cannot use.
 * @throws UnsupportedTemplateError if the function is told about several
 */
export function readBuckets(stack: StackTemplate, { environment }: FunctionDefinition, folder: string): LocalBucket[] {
  const told = new Set(Object.values(environment));
  const names = stack
    .resourcesOf('AWS::S3::Bucket')
    .map(({ identity }) => identity.ref)
    .filter((name) => told.has(name));
  if (names.length > 1)
    throw new UnsupportedTemplateError(`Cannot tell which bucket is the archive: ${names.join(', ')}.`);
  const policies = stack.resourcesOf('AWS::S3::BucketPolicy').map((policy) => policy.read(bucketPolicySchema));
  return names.map((name) => {
    const policy = policies.find(({ Bucket }) => Bucket === name)?.PolicyDocument;
    return { name, folder, ...(policy !== undefined && { policy }) };
  });
}
