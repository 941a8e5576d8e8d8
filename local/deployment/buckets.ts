import { join } from 'node:path';
import * as z from 'zod';
import type { PolicyDocument } from '../aws/authorize';
import type { LocalBucket } from '../aws/local-aws';
import type { FunctionDefinition } from './function-definition';
import type { StackTemplate } from './stack-template';

const bucketPolicySchema = z.object({
  Bucket: z.string(),
  PolicyDocument: z.custom<PolicyDocument>((value) => typeof value === 'object' && value !== null),
});

/**
 * The stack's buckets, each with its policy. The one that the function is told about lies in the folder itself, so that
 * the archive can be read without knowing a name; whatever else there is lies hidden in it.
 */
export function readBuckets(stack: StackTemplate, { environment }: FunctionDefinition, folder: string): LocalBucket[] {
  const buckets = stack.resourcesOf('AWS::S3::Bucket').map(({ identity }) => identity.ref);
  const policies = stack.resourcesOf('AWS::S3::BucketPolicy').map((policy) => policy.read(bucketPolicySchema));
  const known = new Set(Object.values(environment));
  const archive = buckets.find((name) => known.has(name));
  return buckets.map((name) => {
    const policy = policies.find(({ Bucket }) => Bucket === name)?.PolicyDocument;
    return {
      name,
      folder: name === archive ? folder : join(folder, '.buckets', name),
      ...(policy !== undefined && { policy }),
    };
  });
}
