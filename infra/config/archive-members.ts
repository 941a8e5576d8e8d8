import * as z from 'zod';
import { archiveFits } from './config-rules';
import { accountId, bucketArn, keyArn, members, roleArn, wholeNumber } from './schema-values';

const lockModes = ['governance', 'compliance'] as const;

const objectLock = members({
  days: wholeNumber(1, 36_500).describe('Days from its writing in which an object version cannot be deleted.'),
  mode: z
    .enum(lockModes, 'governance or compliance')
    .default('governance')
    .describe(
      'governance: whoever has s3:BypassGovernanceRetention may still delete. compliance: nobody may delete, and nobody can shorten the lock.',
    ),
});

const replicateTo = members({
  bucketArn: bucketArn.describe('ARN of the bucket that gets the copies; it needs versions and Object Lock.'),
  account: accountId.describe("Account of that bucket; left out: the stack's own.").optional(),
  kmsKeyArn: keyArn.describe('Key that encrypts the copies; needed if kms is set.').optional(),
});

/** The member `archive`. */
export const archive = members({
  retentionDays: wholeNumber(1, 36_500)
    .describe('Days until an object expires; it is deleted 30 days after that. Left out: never.')
    .optional(),
  objectLock: objectLock
    .describe('How long new objects are locked against deletion (Object Lock); left out: not at all.')
    .optional(),
  kms: z
    .union([z.literal(true, 'true'), keyArn])
    .describe(
      'true creates a KMS key; an ARN uses that key, whose policy has to let IAM policies decide; left out: encryption managed by S3.',
    )
    .optional(),
  formerKmsKeyArns: z
    .array(keyArn, 'a list of ARNs of KMS keys')
    .default([])
    .describe('Keys that kms had before, so that run records from that time can still be read.'),
  readers: z
    .array(roleArn, 'a list of ARNs of roles')
    .max(20, 'at most 20 roles')
    .default([])
    .describe('Roles, also of other accounts, that the policies of bucket and key let list and read everything.'),
  replicateTo: replicateTo
    .describe('Another bucket that gets a copy of everything written; left out: none.')
    .optional(),
}).check(archiveFits);
