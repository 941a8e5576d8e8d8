import * as z from 'zod';
import { mostShards } from '../limits';
import * as nested from './config-members';
import { shardsFit, staleAfterGap, uniqueClusters, whereStackIs } from './config-rules';
import { members, trueOrFalse, wholeNumber } from './schema-values';

/**
 * The configuration file as a schema. Every message completes the sentence "expected …". Every description goes into
 * collector.schema.json, where editors show it.
 */
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
  service: nested.service.describe('The service that the collector reads.'),
  apiKeySecret: nested.apiKeySecret
    .describe(
      'Existing secret that holds the API key; left out: the stack creates an empty one and prints how to fill it.',
    )
    .optional(),
  deployTo: nested.deployTo
    .describe("The stack's only account and region; left out: those of the credentials that deploy it.")
    .optional(),
  clusters: z
    .array(nested.cluster, 'a list of clusters, or { "file": … }')
    .min(1, 'at least one cluster')
    .check(uniqueClusters)
    .describe('Clusters to collect: uids, or objects for clusters that differ. 50,000 and more are no problem.'),
  schedule: nested.schedule.describe('When a run starts.'),
  limits: nested.limits.prefault({}).describe('How many requests the service gets, and how large a body may be.'),
  archive: nested.archive.prefault({}).describe('How objects are stored, and for how long.'),
  alerts: nested.alerts.prefault({}).describe('Who gets messages.'),
  audit: nested.audit
    .describe('Verifies and seals the archive on a schedule of its own, see docs/operations.md; left out: no audit.')
    .optional(),
  network: nested.network.describe('Existing VPC that the function runs in; left out: none.').optional(),
  tags: nested.tags.default({}).describe('Tags of everything in the stack.'),
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

export const configSchema = asWritten.check(whereStackIs, shardsFit, staleAfterGap);

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
