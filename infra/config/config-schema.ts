import * as z from 'zod';
import type { Compression } from '../../lambda/stack-contract';
import { mostShards } from '../limits';
import { cluster, members, projectUid } from './cluster-schema';
import {
  baseUrlProblem,
  checkArchive,
  checkLimits,
  checkUniqueClusters,
  isTimeZone,
  normaliseBaseUrl,
  scheduleProblem,
} from './config-rules';

/**
 * The configuration file as a schema. Every message completes the sentence "expected …". Every description goes into
 * collector.schema.json, where editors show it.
 */

/** Turns a rule, which returns what it expects instead, into a refinement. */
function refinement(rule: (text: string) => string | undefined) {
  return (input: string, context: z.core.$RefinementCtx): void => {
    const expected = rule(input);
    if (expected !== undefined) context.addIssue({ code: 'custom', input, message: expected });
  };
}

const wholeNumber = (least: number, most: number) => {
  const expected = `a whole number from ${least} to ${most}`;
  return z.int(expected).min(least, expected).max(most, expected);
};

const service = members({
  baseUrl: z
    .string('the https address of the service')
    .superRefine(refinement(baseUrlProblem))
    .transform(normaliseBaseUrl)
    .describe('Address of the service without /v1: https, or http towards loopback only. No credentials, no query.'),
  projectUid: projectUid.optional(),
  collection: z
    .string('one path segment')
    .regex(/^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,200}$/, 'one plain path segment: letters, digits, ".", "_", "~", "-"')
    .default('platformclusters')
    .describe("Path segment of the service's cluster collection."),
  caCertificateFile: z
    .string('the path of a PEM file')
    .min(1, 'the path of a PEM file')
    .describe(
      'PEM file, relative to this file, with the only certificate authorities trusted for the service; left out: the public ones.',
    )
    .optional(),
});

const secretName = z
  .string('the name of a secret')
  .regex(/^[A-Za-z0-9/_+=.@-]{1,512}$/, 'the name of a secret (not its ARN): letters, digits and /_+=.@-');

const keyArn = z
  .string('the ARN of a KMS key')
  .regex(
    /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/,
    'the ARN of a KMS key, arn:aws:kms:<region>:<account>:key/<id>',
  );

const schedule = members({
  expression: z
    .string('a cron expression')
    .superRefine(refinement(scheduleProblem))
    .describe('EventBridge Scheduler cron: cron(minutes hours day-of-month month day-of-week year).'),
  timeZone: z
    .string('an IANA time zone')
    .refine(isTimeZone, 'an IANA time zone such as Etc/UTC or Europe/Berlin')
    .default('Etc/UTC')
    .describe('IANA time zone of the expression.'),
  enabled: z.boolean('true or false').default(true).describe('Whether the schedule starts runs.'),
});

const limits = members({
  concurrency: wholeNumber(1, 256).default(16).describe('Requests to the service under way at once, in each shard.'),
  requestsPerSecond: z
    .number('a number above 0')
    .positive('a number above 0')
    .describe('Requests started per second, over the whole fleet; left out: unlimited.')
    .optional(),
  maxBodyMiB: wholeNumber(1, 5000).default(256).describe('Largest body that is accepted, in MiB.'),
  responseTimeoutSeconds: wholeNumber(1, 600).default(60).describe('Longest wait for the first byte of an answer.'),
}).superRefine(checkLimits, { when: () => true });

const compressions = ['gzip', 'zstd'] as const satisfies Compression[];

const archive = members({
  compression: z
    .enum(compressions, 'gzip or zstd')
    .default('gzip')
    .describe('gzip can be read everywhere; zstd compresses two to three times as fast to about the same size.'),
  infrequentAccessAfterDays: wholeNumber(30, 36_500)
    .describe('Days until an object moves to the infrequent access class; left out: never.')
    .optional(),
  retentionDays: wholeNumber(1, 36_500).describe('Days until an object expires; left out: never.').optional(),
  objectLockDays: wholeNumber(1, 36_500)
    .describe(
      'Days in which nobody can delete an object (Object Lock, governance mode); set when the archive is created.',
    )
    .optional(),
  kms: z
    .union([z.literal(true, 'true'), keyArn])
    .describe(
      'true creates a KMS key; an ARN uses that key, whose policy has to let IAM policies decide; left out: encryption managed by S3.',
    )
    .optional(),
}).superRefine(checkArchive, { when: () => true });

const alerts = members({
  emails: z
    .array(z.email('an e-mail address'))
    .default([])
    .describe('Addresses that get alarms and failed runs; each has to confirm once.'),
});

/** The id of something in a VPC, such as `subnet-0123456789abcdef0`. */
const networkId = (what: string, prefix: string) => {
  const expected = `the id of a ${what}: ${prefix}- and 8 to 17 hexadecimal digits`;
  return z.string(expected).regex(new RegExp(`^${prefix}-[0-9a-f]{8,17}$`), expected);
};

const network = members({
  vpcId: networkId('VPC', 'vpc').describe('The VPC.'),
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

const tags = z
  .record(
    z
      .string()
      .regex(/^(?!aws:).{1,128}$/isu, 'a key of 1 to 128 characters that does not start with "aws:"')
      .regex(tagText, 'letters, digits, spaces and _.:/=+-@'),
    z.string('text').max(256, 'at most 256 characters').regex(tagText, 'letters, digits, spaces and _.:/=+-@'),
    'an object of tags',
  )
  .refine((all) => Object.keys(all).length <= 50, 'at most 50 tags');

interface SecretConfig {
  name: string;
  kmsKeyArn?: string | undefined;
}

export const configSchema = members({
  $schema: z
    .string('the path of the JSON schema')
    .describe('JSON schema, from which editors complete this file.')
    .optional(),
  name: z
    .string('the name of the stack')
    .regex(
      /^[A-Za-z][A-Za-z0-9-]{0,127}$/,
      'a stack name: a letter, then letters, digits and hyphens, at most 128 in all',
    )
    .describe("The stack's name; one stack per configuration file."),
  service: service.describe('The service that the collector reads.'),
  apiKeySecret: z
    .union([
      secretName.transform((name): SecretConfig => ({ name })),
      members({
        name: secretName.describe('Name of the secret.'),
        kmsKeyArn: keyArn.describe('Customer key that encrypts the secret.').optional(),
      }),
    ])
    .describe(
      'Existing secret that holds the API key; left out: the stack creates an empty one and prints how to fill it.',
    )
    .optional(),
  clusters: z
    .array(cluster, 'a list of clusters')
    .min(1, 'at least one cluster')
    .superRefine(checkUniqueClusters, { when: () => true })
    .describe('Clusters to collect: uids, or objects for clusters that differ. 50,000 and more are no problem.'),
  schedule: schedule.describe('When a run starts.'),
  limits: limits.prefault({}).describe('How many requests the service gets, and how large a body may be.'),
  archive: archive.prefault({}).describe('How objects are stored, and for how long.'),
  alerts: alerts.prefault({}).describe('Who gets messages.'),
  network: network.describe('Existing VPC that the function runs in; left out: none.').optional(),
  tags: tags.default({}).describe('Tags of everything in the stack.'),
  shards: wholeNumber(1, mostShards)
    .default(1)
    .describe(
      'Parts that a state machine works on at once; more than 1 for very large fleets, see docs/large-fleets.md.',
    ),
  testEvents: z
    .boolean('true or false')
    .default(false)
    .describe(
      "Whether the console's Test tab offers shared events; needs the account's registry, see docs/operations.md.",
    ),
  athenaTables: z
    .boolean('true or false')
    .default(false)
    .describe('Whether Athena has tables over run records and logs, see docs/reading-the-archive.md.'),
});

/** The validated configuration, with defaults and with the text of the files that it names. */
export type CollectorConfig = z.output<typeof configSchema> & {
  readonly service: {
    /** PEM text of the certificates in `caCertificateFile`. */
    readonly caCertificate?: string | undefined;
  };
};

/** The configuration's schema for editors: the content of collector.schema.json. */
export function configJsonSchema(): string {
  const schema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' });
  return `${JSON.stringify({ ...schema, title: 'Configuration of the cluster log collector' }, undefined, 2)}\n`;
}
