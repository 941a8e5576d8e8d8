import * as z from 'zod';
import { damageKinds } from '../../archive/format/finding';
import { parsePublicKey } from '../../archive/format/seal-file';
import { mostConcurrency } from '../limits';
import { archiveFits, bodiesFit, erasedInOrder, keyOfTopic, uniqueEmails } from './config-rules';
import {
  accountId,
  bucketArn,
  cronExpression,
  keyArn,
  members,
  region,
  roleArn,
  textLike,
  timeZone,
  topicArn,
  trueOrFalse,
  wholeNumber,
} from './schema-values';

/**
 * The other members of the configuration that have members of their own. Every message completes the sentence "expected …".
 * Every description goes into collector.schema.json, where editors show it.
 */

const secretName = z
  .string('the name of a secret')
  .regex(/^[A-Za-z0-9/_+=.@-]{1,512}$/, 'the name of a secret (not its ARN): letters, digits and /_+=.@-');

/** A name, or an object if a customer key encrypts the secret. */
export const apiKeySecret = z.union([
  secretName.transform((name): { name: string; kmsKeyArn?: string | undefined } => ({ name })),
  members({
    name: secretName.describe('Name of the secret.'),
    kmsKeyArn: keyArn.describe('Customer key that encrypts the secret.').optional(),
  }),
]);

export const schedule = members({
  expression: cronExpression.describe(
    'EventBridge Scheduler cron: cron(minutes hours day-of-month month day-of-week year).',
  ),
  timeZone: timeZone.default('Etc/UTC').describe('IANA time zone of the expression.'),
  enabled: trueOrFalse().default(true).describe('Whether the schedule starts runs.'),
});

const publicKey = z
  .string('a public key')
  .refine(
    (text) => parsePublicKey(text) !== undefined,
    'a public key of the curve P-256: the base64 text of its PEM file',
  );

const dayForm = 'a day such as 2026-11-20, or a time such as 2026-11-20T10:00:00Z';

const dayOrTime = z.union([z.iso.date(dayForm), z.iso.datetime(dayForm)]);

const why = z
  .string('a reason')
  .min(1, 'a reason')
  .max(300, 'at most 300 characters')
  .describe('Why it stays as it is, and who says so. It is sealed.');

/** Damage, a cluster whose objects were deleted on request, or a shorter retention. */
const acknowledged = z.union([
  members({
    kind: z.enum(damageKinds, `a kind of damage: ${damageKinds.join(', ')}`).describe('Kind of a finding.'),
    key: z
      .string('a key')
      .min(1, 'a key')
      .max(1024, 'at most 1,024 characters')
      .describe('Key of the finding, as the mail has it.'),
    why,
  }),
  members({
    cluster: z
      .string('the uid of a cluster')
      .min(1, 'the uid of a cluster')
      .max(200, 'at most 200 characters')
      .describe('A cluster whose objects were deleted on request. Excuses what is missing of it.'),
    from: dayOrTime.describe('First run that was erased; left out: from the beginning.').optional(),
    to: dayOrTime
      .describe('Last run that was erased; left out: the time of the first seal that has this entry.')
      .optional(),
    why,
  }).check(erasedInOrder),
  members({
    retentionDays: wholeNumber(1, 36_500).describe('A retention that is shorter than before, and meant so.'),
    why,
  }),
]);

const auditAlarms = members({
  staleAfterHours: wholeNumber(1, 87_600)
    .describe('Hours without an archived object after which a cluster raises an alarm, more than between two runs.')
    .optional(),
  frozenAfterHours: wholeNumber(1, 87_600)
    .describe(
      'Hours without anything new in a log after which it raises one; the mail lists logs after 24 in any case.',
    )
    .optional(),
  logGaps: trueOrFalse()
    .describe('Whether an alarm is raised when lines of a log may be lost between two runs.')
    .optional(),
});

export const audit = members({
  schedule: cronExpression.describe(
    'When the archive is audited: a cron expression in the time zone of schedule, at least once a day is best.',
  ),
  rereadDays: z
    .union([z.literal(false, 'false'), wholeNumber(1, 36_500)])
    .describe(
      'Days within which every old object is read again; left out: 90, or more for a large archive; false: never.',
    )
    .optional(),
  alarms: auditAlarms.describe('What raises an alarm beside damage; left out: nothing does.').optional(),
  acknowledged: z
    .array(acknowledged, 'a list of findings, clusters or retentions')
    .max(1000, 'at most 1,000 entries')
    .describe(
      'Damage that nobody can repair, clusters that were erased, a shorter retention: reported, without an alarm.',
    )
    .optional(),
  signingKeyArn: keyArn
    .describe(
      'Existing key that signs seals, of the kind ECC_NIST_P256; its policy needs the output SigningKeyPolicy. Left out: the stack has its own.',
    )
    .optional(),
  formerPublicKeys: z
    .array(publicKey, 'a list of public keys')
    .describe('Public keys that signed seals before the signing key was replaced: the base64 text of their PEM files.')
    .optional(),
});

export const limits = members({
  concurrency: wholeNumber(1, mostConcurrency)
    .default(16)
    .describe('Requests to the service under way at once, in each shard.'),
  requestsPerSecond: z
    .number('a number above 0')
    .positive('a number above 0')
    .describe('Requests started per second, over the whole fleet; left out: unlimited.')
    .optional(),
  maxBodyMiB: wholeNumber(1, 5000).default(256).describe('Largest body that is accepted, in MiB.'),
  oneRunAtATime: trueOrFalse()
    .default(false)
    .describe("Whether a run waits until the run before has ended; takes from the account's concurrency of Lambda."),
}).check(bodiesFit);

/** Who gets messages, and how. */
const group = members({
  emails: z
    .array(z.email('an e-mail address'), 'a list of e-mail addresses')
    .check(uniqueEmails)
    .default([])
    .describe('Addresses that get messages; each has to confirm once.'),
  topicArn: topicArn
    .describe("Existing topic that gets them, in the stack's account and region; left out: the stack has its own.")
    .optional(),
  kmsKeyArn: keyArn.describe('Customer key that encrypts the existing topic.').optional(),
}).check(keyOfTopic);

export const alerts = members({
  page: group.prefault({}).describe('Who is woken up: damage, and what failed for good or is missing.'),
  inform: group
    .describe('Who gets everything else, and all mails of the audit; left out: page gets it too.')
    .optional(),
  pageFrom: members({
    missingPercent: z
      .number('a percentage')
      .gt(0, 'a percentage above 0')
      .max(100, 'at most 100 percent')
      .describe('Share of the fleet, in percent, that has to be missing after the last attempt of a run.'),
  })
    .describe('When a run that is incomplete wakes people up; left out: always. Below it, the other group is informed.')
    .optional(),
  heartbeat: members({
    secret: secretName.describe('Name of an existing secret whose value is the address, as a plain string.'),
  })
    .describe('Monitoring service outside that is told of each complete run and of each seal; left out: none.')
    .optional(),
});

export const deployTo = members({
  account: accountId.describe('The only account that the stack may be deployed to.'),
  region: region.describe('The only region that the stack may be deployed to.'),
});

/** The id of a part of a VPC, such as `subnet-0123456789abcdef0`. */
const networkId = (what: string, prefix: string) =>
  textLike(new RegExp(`^${prefix}-[0-9a-f]{8,17}$`), `the id of a ${what}: ${prefix}- and 8 to 17 hexadecimal digits`);

export const network = members({
  subnetIds: z
    .array(networkId('subnet', 'subnet'), 'a list of subnets')
    .min(1, 'at least one subnet')
    .max(16, 'at most 16 subnets')
    .describe('Subnets from which the service and AWS can be reached.'),
  securityGroupIds: z
    .array(networkId('security group', 'sg'), 'a list of security groups')
    .min(1, 'at least one security group')
    .max(5, 'at most 5 security groups')
    .describe('Security groups that let the function connect to the service and to AWS.'),
});

const tagText = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

export const tags = z
  .record(
    z
      .string()
      .regex(/^(?!aws:).{1,128}$/isu, 'a key of 1 to 128 characters that does not start with "aws:"')
      .regex(tagText, 'letters, digits, spaces and _.:/=+-@'),
    z.string('text').max(256, 'at most 256 characters').regex(tagText, 'letters, digits, spaces and _.:/=+-@'),
    'an object of tags',
  )
  .refine((all) => Object.keys(all).length <= 50, 'at most 50 tags');

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
