import * as z from 'zod';
import { mostConcurrency } from '../limits';
import { bodiesFit, keyOfTopic, uniqueEmails } from './config-rules';
import {
  accountId,
  cronExpression,
  keyArn,
  members,
  region,
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
