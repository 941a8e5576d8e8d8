import * as z from 'zod';
import { damageKinds } from '../../lambda/verify/finding';
import { parsePublicKey } from '../../lambda/verify/seals/seal-file';
import { mostConcurrency, mostShards } from '../limits';
import { archive } from './archive-schema';
import { cluster, projectUid } from './cluster-schema';
import {
  baseUrlProblem,
  checkAudit,
  checkEnvironment,
  checkGroups,
  checkLimits,
  checkRecipients,
  checkService,
  checkShards,
  checkUniqueClusters,
  checkUniqueEmails,
  isTimeZone,
  normaliseBaseUrl,
  regionProblem,
  scheduleProblem,
} from './config-rules';
import { accountId, keyArn, members, refinement, textLike, topicArn, trueOrFalse, wholeNumber } from './schema-values';

/**
 * The configuration file as a schema. Every message completes the sentence "expected …". Every description goes into
 * collector.schema.json, where editors show it.
 */

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
  acceptCompressed: trueOrFalse()
    .default(true)
    .describe('Whether the service may answer in gzip; false for one that compresses wrongly.'),
  caCertificateFile: z
    .string('the path of a PEM file')
    .min(1, 'the path of a PEM file')
    .describe(
      'PEM file, relative to this file, with the only certificate authorities trusted for the service; left out: the public ones.',
    )
    .optional(),
}).superRefine(checkService, { when: () => true });

const secretName = z
  .string('the name of a secret')
  .regex(/^[A-Za-z0-9/_+=.@-]{1,512}$/, 'the name of a secret (not its ARN): letters, digits and /_+=.@-');

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
  enabled: trueOrFalse().default(true).describe('Whether the schedule starts runs.'),
});

const publicKey = z
  .string('a public key')
  .refine(
    (text) => parsePublicKey(text) !== undefined,
    'a public key of the curve P-256: the base64 text of its PEM file',
  );

const acknowledged = members({
  kind: z.enum(damageKinds, `a kind of damage: ${damageKinds.join(', ')}`).describe('Kind of the finding.'),
  key: z.string('a key').min(1, 'a key').max(1024, 'at most 1,024 characters').describe('Its key, as the mail has it.'),
  why: z
    .string('a reason')
    .min(1, 'a reason')
    .max(300, 'at most 300 characters')
    .describe('Why it stays as it is, and who says so. It is sealed.'),
});

const audit = members({
  schedule: z
    .string('a cron expression')
    .superRefine(refinement(scheduleProblem))
    .describe('When the archive is audited: a cron expression as in schedule.expression, at least once a day is best.'),
  timeZone: z
    .string('an IANA time zone')
    .refine(isTimeZone, 'an IANA time zone such as Etc/UTC or Europe/Berlin')
    .describe('IANA time zone of the expression; left out: that of schedule.')
    .optional(),
  rereadDays: wholeNumber(1, 36_500)
    .describe('Days within which every old object is read again; left out: what was verified once is not read again.')
    .optional(),
  staleAfterHours: wholeNumber(1, 87_600)
    .describe('Hours without an archived object after which a cluster raises an alarm; left out: no alarm.')
    .optional(),
  frozenAfterHours: wholeNumber(1, 87_600)
    .describe(
      'Hours without anything new in a log after which an alarm is raised; left out: no alarm, the mail says 24.',
    )
    .optional(),
  alarmOnLogGaps: trueOrFalse()
    .describe('Whether an alarm is raised when lines of a log may be lost between two runs.')
    .optional(),
  acknowledged: z
    .array(acknowledged, 'a list of findings')
    .max(1000, 'at most 1,000 findings')
    .describe('Damage that nobody can repair: it is told, and raises no alarm any more.')
    .optional(),
  formerPublicKeys: z
    .array(publicKey, 'a list of public keys')
    .describe('Public keys that signed seals before the signing key was replaced: the base64 text of their PEM files.')
    .optional(),
});

const limits = members({
  concurrency: wholeNumber(1, mostConcurrency)
    .default(16)
    .describe('Requests to the service under way at once, in each shard.'),
  requestsPerSecond: z
    .number('a number above 0')
    .positive('a number above 0')
    .describe('Requests started per second, over the whole fleet; left out: unlimited.')
    .optional(),
  maxBodyMiB: wholeNumber(1, 5000).default(256).describe('Largest body that is accepted, in MiB.'),
  responseTimeoutSeconds: wholeNumber(1, 600).default(60).describe('Longest wait for the first byte of an answer.'),
  oneRunAtATime: trueOrFalse()
    .default(false)
    .describe("Whether a run waits until the run before has ended; takes from the account's concurrency of Lambda."),
}).superRefine(checkLimits, { when: () => true });

const recipients = {
  emails: z
    .array(z.email('an e-mail address'), 'a list of e-mail addresses')
    .superRefine(checkUniqueEmails, { when: () => true })
    .default([])
    .describe('Addresses that get messages; each has to confirm once.'),
  topicArn: topicArn
    .describe("Existing topic that gets them, in the stack's account and region; left out: the stack has its own.")
    .optional(),
  kmsKeyArn: keyArn.describe('Customer key that encrypts the existing topic.').optional(),
};

const group = members(recipients).superRefine(checkRecipients, { when: () => true });

/** Who gets messages: one list, or two groups. */
const alerts = members({
  ...recipients,
  page: group.describe('Who is woken up: damage, what failed for good or is missing, a rejected key.').optional(),
  inform: group.describe('Who gets everything else, and the mails of the audit.').optional(),
})
  .superRefine(checkRecipients, { when: () => true })
  .superRefine(checkGroups, { when: () => true });

const deployTo = members({
  account: accountId.describe('The only account that the stack may be deployed to.'),
  region: z
    .string('the name of a region')
    .superRefine(refinement(regionProblem))
    .describe('The only region that the stack may be deployed to.'),
});

/** The id of something in a VPC, such as `subnet-0123456789abcdef0`. */
const networkId = (what: string, prefix: string) =>
  textLike(new RegExp(`^${prefix}-[0-9a-f]{8,17}$`), `the id of a ${what}: ${prefix}- and 8 to 17 hexadecimal digits`);

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

const asWritten = members({
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
  deployTo: deployTo
    .describe("The stack's only account and region; left out: those of the credentials that deploy it.")
    .optional(),
  clusters: z
    .array(cluster, 'a list of clusters, or { "file": … }')
    .min(1, 'at least one cluster')
    .superRefine(checkUniqueClusters, { when: () => true })
    .describe('Clusters to collect: uids, or objects for clusters that differ. 50,000 and more are no problem.'),
  schedule: schedule.describe('When a run starts.'),
  limits: limits.prefault({}).describe('How many requests the service gets, and how large a body may be.'),
  archive: archive.prefault({}).describe('How objects are stored, and for how long.'),
  alerts: alerts.prefault({}).describe('Who gets messages.'),
  audit: audit
    .describe('Verifies and seals the archive on a schedule of its own, see docs/operations.md; left out: no audit.')
    .optional(),
  network: network.describe('Existing VPC that the function runs in; left out: none.').optional(),
  tags: tags.default({}).describe('Tags of everything in the stack.'),
  shards: wholeNumber(1, mostShards)
    .default(1)
    .describe(
      'Parts that a state machine works on at once; more than 1 for very large fleets, see docs/large-fleets.md.',
    ),
  testEvents: trueOrFalse()
    .default(false)
    .describe(
      "Whether the console's Test tab offers shared events; needs the account's registry, see docs/operations.md.",
    ),
  athenaTables: trueOrFalse()
    .default(false)
    .describe('Whether Athena has tables over run records and logs, see docs/reading-the-archive.md.'),
});

export const configSchema = asWritten
  .superRefine(checkEnvironment, { when: () => true })
  .superRefine(checkShards, { when: () => true })
  .superRefine(checkAudit, { when: () => true });

/** The validated configuration, with defaults and with the text of the files that it names. */
export type CollectorConfig = z.output<typeof configSchema> & {
  readonly service: {
    /** PEM text of the certificates in `caCertificateFile`. */
    readonly caCertificate?: string | undefined;
  };
};

/** In place of the list of clusters: the file that holds it. */
export const clustersFile = members({
  file: z
    .string('the path of a JSON file')
    .min(1, 'the path of a JSON file')
    .describe('JSON file, relative to this file, that holds the list of clusters.'),
});

/** The configuration's schema for editors: the content of collector.schema.json. */
export function configJsonSchema(): string {
  const clusters = z
    .union([asWritten.shape.clusters, clustersFile])
    .describe('Clusters to collect: a list, or the file that holds it.');
  const schema = z.toJSONSchema(asWritten.extend({ clusters }), { io: 'input', target: 'draft-7' });
  return `${JSON.stringify({ ...schema, title: 'Configuration of the cluster log collector' }, undefined, 2)}\n`;
}
