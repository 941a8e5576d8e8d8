import * as z from 'zod';
import type { ConfiguredCluster } from '../../archive/format/configuration';
import { mostShards } from '../limits';
import { archive } from './archive-members';
import { audit } from './audit-members';
import * as nested from './config-members';
import { listBesideArchive, shardsFit, whereStackIs } from './config-rules';
import { members, textLike, wholeNumber } from './schema-values';
import { clusters, type OutsideList, service } from './service-members';
import { timestamps } from './timestamp-members';

/**
 * The configuration file as a schema. Every message completes the sentence "expected …". Every description goes into
 * collector.schema.json, where editors show it.
 * @param folder that the files are relative to which the configuration names
 */
export function configSchema(folder: string) {
  return members({
    $schema: z
      .string('the path of the JSON schema')
      .describe('JSON schema, from which editors complete this file.')
      .optional(),
    name: textLike(
      /^[A-Za-z][A-Za-z0-9-]{0,127}$/,
      'a stack name: a letter, then letters, digits and hyphens, at most 128 in all',
    ).describe("The stack's name; one stack per configuration file."),
    service: service(folder),
    apiKeySecret: nested.apiKeySecret
      .describe(
        'Existing secret that holds the API key; left out: the stack creates an empty one and prints how to fill it.',
      )
      .optional(),
    deployTo: nested.deployTo
      .describe("The stack's only account and region; left out: those of the credentials that deploy it.")
      .optional(),
    clusters: clusters(folder),
    schedule: nested.schedule.describe('When a run starts.'),
    limits: nested.limits.prefault({}).describe('How many requests the service gets, and how large a body may be.'),
    archive: archive.prefault({}).describe('How objects are stored, and for how long.'),
    alerts: nested.alerts.prefault({}).describe('Who gets messages.'),
    audit: audit
      .extend({ timestamps: timestamps(folder).optional() })
      .describe('Verifies and seals the archive on a schedule of its own, see docs/operations.md; left out: no audit.')
      .optional(),
    network: nested.network.describe('Existing VPC that the function runs in; left out: none.').optional(),
    tags: nested.tags.default({}).describe('Tags of everything in the stack.'),
    shards: wholeNumber(1, mostShards)
      .default(1)
      .describe(
        'Parts that a state machine works on at once; more than 1 for very large fleets, see docs/large-fleets.md.',
      ),
  }).check(whereStackIs, shardsFit, listBesideArchive);
}

type Parsed = z.output<ReturnType<typeof configSchema>>;

/** The validated configuration, with defaults and with the content of the files that it names. */
export interface CollectorConfig extends Omit<Parsed, 'clusters'> {
  /** None, if they come from outside. */
  readonly clusters: readonly ConfiguredCluster[];
  /** Where clusters come from that are read when a run begins; left out: they are deployed. */
  readonly clusterList?: OutsideList;
}

/** @returns with the clusters and where they come from as two members */
export function withClusters({ clusters, ...others }: Parsed): CollectorConfig {
  return 'from' in clusters ? { ...others, clusters: [], clusterList: clusters } : { ...others, clusters };
}

/** The configuration's schema for editors: the content of collector.schema.json. */
export function configJsonSchema(): string {
  const schema = z.toJSONSchema(configSchema(''), { io: 'input', target: 'draft-7' });
  return `${JSON.stringify({ ...schema, title: 'Configuration of the cluster log collector' }, undefined, 2)}\n`;
}
