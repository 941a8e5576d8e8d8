import type { LifecycleRule } from '@aws-sdk/client-s3';
import * as z from 'zod';
import type { StackResource, StackTemplate } from '../../local/deployment/stack-template';
import { AwsAccessError, withAws } from '../stack/aws-access';
import type { DeployedCollector } from '../stack/find-stack';
import { type ArnOfRole, policyFacts, textOf } from './canonical';
import type { Facts, Guard } from './guard';

/** What S3 says where something was never set: the same as nothing. */
const absent = [
  'NoSuchBucketPolicy',
  'NoSuchLifecycleConfiguration',
  'ObjectLockConfigurationNotFoundError',
  'ReplicationConfigurationNotFoundError',
  'NoSuchPublicAccessBlockConfiguration',
  'ServerSideEncryptionConfigurationNotFoundError',
];

const bucketSchema = z.looseObject({
  LifecycleConfiguration: z.optional(z.looseObject({ Rules: z.array(z.looseObject({})) })),
  VersioningConfiguration: z.optional(z.looseObject({ Status: z.string() })),
  ObjectLockConfiguration: z.optional(z.looseObject({})),
  ReplicationConfiguration: z.optional(z.looseObject({ Role: z.string(), Rules: z.array(z.looseObject({})) })),
  PublicAccessBlockConfiguration: z.optional(z.looseObject({})),
  BucketEncryption: z.optional(z.looseObject({ ServerSideEncryptionConfiguration: z.array(z.looseObject({})) })),
});
const policySchema = z.looseObject({ Bucket: z.string(), PolicyDocument: z.unknown() });

/** What protects the buckets of the stack. What the template does not have must not be there: replication above all. */
export async function bucketGuards(
  template: Pick<StackTemplate, 'resourcesOf'>,
  { region, accountId }: Pick<DeployedCollector, 'region' | 'accountId'>,
  arnOfRole: Promise<ArnOfRole>,
): Promise<Guard[]> {
  const s3 = await import('@aws-sdk/client-s3');
  const client = new s3.S3Client({ region });
  const policies = template.resourcesOf('AWS::S3::BucketPolicy');
  return template.resourcesOf('AWS::S3::Bucket').flatMap((bucket): Guard[] => {
    const { logicalId: of } = bucket;
    // A bucket of another account answers AccessDenied, whoever asks.
    const input = { Bucket: bucket.identity.ref, ExpectedBucketOwner: accountId };
    const deployed = () => bucket.read(bucketSchema);
    const asked = <Answer>(what: string, ask: () => Promise<Answer>) => orAbsent(`Reading the ${what} of ${of}`, ask);
    return [
      {
        what: 'policies of buckets',
        of,
        deployed: () => policyFacts(policyOf(bucket, policies), new Map()),
        live: async () => {
          const answer = await asked('policy', () => client.send(new s3.GetBucketPolicyCommand(input)));
          return policyFacts(parsed(answer?.Policy ?? '{}', of), await arnOfRole);
        },
      },
      {
        what: 'lifecycle',
        of,
        deployed: () => lifecycleFacts((deployed().LifecycleConfiguration?.Rules ?? []).map(ruleOfTemplate)),
        live: async () => {
          const ask = () => client.send(new s3.GetBucketLifecycleConfigurationCommand(input));
          return lifecycleFacts((await asked('lifecycle', ask))?.Rules ?? []);
        },
      },
      {
        what: 'versions',
        of,
        deployed: () => versionFacts(deployed().VersioningConfiguration?.Status),
        live: async () => {
          const answer = await asked('versioning', () => client.send(new s3.GetBucketVersioningCommand(input)));
          return versionFacts(answer?.Status);
        },
      },
      {
        what: 'Object Lock',
        of,
        deployed: () => facts('configuration', deployed().ObjectLockConfiguration),
        live: async () => {
          const ask = () => client.send(new s3.GetObjectLockConfigurationCommand(input));
          return facts('configuration', (await asked('Object Lock', ask))?.ObjectLockConfiguration);
        },
      },
      {
        what: 'replication',
        of,
        deployed: () => {
          const { Role, Rules = [] } = deployed().ReplicationConfiguration ?? {};
          return replicationFacts(Role, Rules);
        },
        live: async () => {
          const ask = () => client.send(new s3.GetBucketReplicationCommand(input));
          const { Role, Rules = [] } = (await asked('replication', ask))?.ReplicationConfiguration ?? {};
          return replicationFacts(Role, Rules);
        },
      },
      {
        what: 'public access',
        of,
        deployed: () => facts('blocks', deployed().PublicAccessBlockConfiguration),
        live: async () => {
          const ask = () => client.send(new s3.GetPublicAccessBlockCommand(input));
          return facts('blocks', (await asked('public access', ask))?.PublicAccessBlockConfiguration);
        },
      },
      {
        what: 'encryption',
        of,
        deployed: () => {
          const [rule] = deployed().BucketEncryption?.ServerSideEncryptionConfiguration ?? [];
          return encryptionFacts(rule?.ServerSideEncryptionByDefault as Encryption);
        },
        live: async () => {
          const answer = await asked('encryption', () => client.send(new s3.GetBucketEncryptionCommand(input)));
          const [rule] = answer?.ServerSideEncryptionConfiguration?.Rules ?? [];
          return encryptionFacts(rule?.ApplyServerSideEncryptionByDefault);
        },
      },
    ];
  });
}

/** @returns undefined: it was never set */
async function orAbsent<Answer>(doing: string, ask: () => Promise<Answer>): Promise<Answer | undefined> {
  return withAws(doing, async () => {
    try {
      return await ask();
    } catch (error) {
      if (absent.includes((error as Error).name)) return undefined;
      throw error;
    }
  });
}

/** @throws AwsAccessError */
export function parsed(policy: string, of: string): unknown {
  try {
    return JSON.parse(policy);
  } catch (cause) {
    throw new AwsAccessError(`Reading the policy of ${of} failed: the answer is not JSON`, { cause });
  }
}

function policyOf(bucket: StackResource, policies: readonly StackResource[]): unknown {
  const all = policies.map((policy) => policy.read(policySchema));
  return all.find(({ Bucket }) => Bucket === bucket.identity.ref)?.PolicyDocument;
}

const facts = (name: string, value: unknown): Facts => (value === undefined ? {} : { [name]: textOf(value) });

const versionFacts = (status = 'never switched on'): Facts => ({ versions: status });

type Encryption =
  | { readonly SSEAlgorithm?: string | undefined; readonly KMSMasterKeyID?: string | undefined }
  | undefined;

const encryptionFacts = (encryption: Encryption): Facts =>
  // S3 encrypts with keys of its own where nothing else was set.
  ({ 'by default': textOf({ key: encryption?.KMSMasterKeyID, algorithm: encryption?.SSEAlgorithm ?? 'AES256' }) });

/** A rule of a template, as S3 has it. */
function ruleOfTemplate(rule: Readonly<Record<string, unknown>>): LifecycleRule {
  const { Id, ExpirationInDays, ExpiredObjectDeleteMarker, ...rest } = rule;
  const Expiration = { Days: ExpirationInDays, ExpiredObjectDeleteMarker };
  return { ...rest, ID: Id, Expiration } as LifecycleRule;
}

function lifecycleFacts(rules: readonly LifecycleRule[]): Facts {
  return Object.fromEntries(
    rules.map(({ ID = '', Prefix, Filter, Expiration, ...rest }) => {
      // S3 answers with a filter what was set as a prefix, or the other way round. It may say false of a marker.
      const { ExpiredObjectDeleteMarker: marker, ...expiration } = Expiration ?? {};
      const Filtered = { Prefix, ...Filter };
      return [
        `rule ${ID}`,
        textOf({
          ...rest,
          Filter: Filtered,
          Expiration: { ...expiration, ...(marker && { ExpiredObjectDeleteMarker: marker }) },
        }),
      ];
    }),
  );
}

/** What decides who gets what. S3 fills in other members, such as the threshold of the metrics. */
const replicationRuleSchema = z.looseObject({
  ID: z.optional(z.string()),
  Id: z.optional(z.string()),
  Status: z.optional(z.string()),
  Prefix: z.optional(z.string()),
  Filter: z.optional(z.looseObject({})),
  DeleteMarkerReplication: z.optional(z.looseObject({ Status: z.optional(z.string()) })),
  Destination: z.optional(
    z.looseObject({
      Bucket: z.optional(z.string()),
      Account: z.optional(z.string()),
      AccessControlTranslation: z.optional(z.looseObject({ Owner: z.optional(z.string()) })),
      EncryptionConfiguration: z.optional(z.looseObject({ ReplicaKmsKeyID: z.optional(z.string()) })),
    }),
  ),
});

function replicationFacts(role: string | undefined, rules: readonly unknown[]): Facts {
  const named = rules.map((rule) => {
    const { ID, Id, Status, Prefix, Filter, DeleteMarkerReplication, Destination } = replicationRuleSchema.parse(rule);
    const { Bucket, Account, AccessControlTranslation, EncryptionConfiguration } = Destination ?? {};
    const to = { Bucket, Account, AccessControlTranslation, EncryptionConfiguration };
    const filter = { Prefix, ...Filter };
    return [`rule ${ID ?? Id}`, textOf({ Status, filter, DeleteMarkerReplication, to })] as const;
  });
  return { ...(role !== undefined && { role }), ...Object.fromEntries(named) };
}
