import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import {
  DeleteBucketLifecycleCommand,
  DeleteBucketPolicyCommand,
  DeletePublicAccessBlockCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectLockConfigurationCommand,
  PutPublicAccessBlockCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import * as z from 'zod';
import { protectionChecks } from '../../cli/doctor/protection-checks';
import { templateOf } from '../infra/example-stack';
import { findCommand, type MotoServer, startMoto } from '../local/aws/moto-server';
import { credentials, deployedTypes, resourcesFor } from './moto-stack';

const StackName = 'collector';

/** What CloudFormation sets of a bucket, and moto's does not. */
async function setUp(s3: S3Client, Bucket: string, properties: Record<string, unknown>): Promise<void> {
  const { LifecycleConfiguration, PublicAccessBlockConfiguration, VersioningConfiguration, ObjectLockConfiguration } =
    bucketSchema.parse(properties);
  const Rules = LifecycleConfiguration.Rules.map(({ Id, Prefix = '', ExpirationInDays: Days, ...rest }) => {
    const { ExpiredObjectDeleteMarker, ...others } = rest;
    const Expiration = Days === undefined ? { ExpiredObjectDeleteMarker } : { Days };
    return { ...others, ID: Id, Status: 'Enabled' as const, Filter: { Prefix }, Expiration };
  });
  await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }));
  await s3.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }));
  if (VersioningConfiguration === undefined) return;
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  const lock = {
    Bucket,
    ObjectLockConfiguration: { ...ObjectLockConfiguration, ObjectLockEnabled: 'Enabled' as const },
  };
  await s3.send(new PutObjectLockConfigurationCommand(lock));
}

const rule = z.looseObject({
  Id: z.string(),
  Prefix: z.optional(z.string()),
  ExpirationInDays: z.optional(z.number()),
  ExpiredObjectDeleteMarker: z.optional(z.boolean()),
});
const bucketSchema = z.looseObject({
  LifecycleConfiguration: z.looseObject({ Rules: z.array(rule) }),
  PublicAccessBlockConfiguration: z.looseObject({}),
  VersioningConfiguration: z.optional(z.looseObject({})),
  ObjectLockConfiguration: z.optional(z.looseObject({})),
});

const command = findCommand('moto_server');

(command === undefined ? describe.skip : describe)(
  'archive, roles and messages of the stack in moto (skipped where moto_server is not in the PATH)',
  () => {
    let moto: MotoServer;
    let cloudFormation: CloudFormationClient;
    let s3: S3Client;
    const clusters = { from: 's3://inventory/fleet/clusters.json' };
    const template = templateOf({ clusters, shards: 2, audit: { schedule: 'cron(30 6 * * ? *)' } });
    const Resources = resourcesFor(template);

    beforeAll(async () => {
      moto = await startMoto(command ?? '');
      const target = { endpoint: moto.url, region: 'eu-central-1', credentials };
      cloudFormation = new CloudFormationClient(target);
      s3 = new S3Client({ ...target, forcePathStyle: true });
    });
    afterAll(() => moto.stop());

    it('deploy, every one of them', async () => {
      const TemplateBody = JSON.stringify({ Resources });
      await cloudFormation.send(new CreateStackCommand({ StackName, TemplateBody }));
      const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
      expect(Stacks?.[0]?.StackStatus).toBe('CREATE_COMPLETE');
      const { StackResources = [] } = await cloudFormation.send(new DescribeStackResourcesCommand({ StackName }));
      const found = StackResources.map(({ LogicalResourceId, ResourceType }) => `${ResourceType} ${LogicalResourceId}`);
      expect(found.sort()).toEqual(
        Object.entries(Resources)
          .map(([name, { Type }]) => `${Type} ${name}`)
          .sort(),
      );
      expect(new Set(Object.values(Resources).map(({ Type }) => Type))).toEqual(new Set(deployedTypes));
    });

    it('are what doctor reads back, in the forms in which moto answers; of what moto cannot say it says "not seen"', async () => {
      const { StackResources = [] } = await cloudFormation.send(new DescribeStackResourcesCommand({ StackName }));
      const physicalIds = new Map(
        StackResources.map(({ LogicalResourceId: id = '', PhysicalResourceId = '' }) => [id, PhysicalResourceId]),
      );
      for (const [id, { Type, Properties }] of Object.entries(Resources))
        if (Type === 'AWS::S3::Bucket') await setUp(s3, physicalIds.get(id) ?? '', Properties);
      const before = { ...process.env };
      const credentials = { AWS_ACCESS_KEY_ID: 'moto', AWS_SECRET_ACCESS_KEY: 'moto' };
      Object.assign(process.env, { AWS_ENDPOINT_URL: moto.url, AWS_REGION: 'eu-central-1', ...credentials });
      const stack = { name: StackName, place: '', region: 'eu-central-1', accountId: '123456789012', physicalIds };
      const look = async () => {
        const checks = await protectionChecks(stack);
        return Object.fromEntries(checks.map(({ what, verdict }) => [what, verdict]));
      };
      try {
        const kinds = ['policies of buckets', 'lifecycle', 'versions', 'Object Lock', 'replication', 'public access'];
        const all = Object.fromEntries([...kinds, 'encryption', 'keys', 'roles'].map((what) => [what, 'right']));
        expect(await look()).toEqual({ ...all, rights: 'not seen' });
        const [Bucket = ''] = [...physicalIds].flatMap(([id, name]) => (id.startsWith('ArchiveBucket') ? name : []));
        await s3.send(new DeletePublicAccessBlockCommand({ Bucket }));
        await s3.send(new DeleteBucketLifecycleCommand({ Bucket }));
        const Policy = JSON.stringify({
          Version: '2012-10-17',
          Statement: [
            { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${Bucket}/*` },
          ],
        });
        await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }));
        const changed = ['policies of buckets', 'lifecycle', 'public access'];
        const wrong = Object.fromEntries(changed.map((what) => [what, 'wrong']));
        expect(await look()).toEqual({ ...all, ...wrong, rights: 'not seen' });
        await s3.send(new DeleteBucketPolicyCommand({ Bucket }));
      } finally {
        process.env = before;
      }
    });
  },
);
