import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { templateOf } from '../infra/example-stack';
import { findCommand, type MotoServer, startMoto } from '../local/aws/moto-server';
import { assumeRole } from './assume-role';

const StackName = 'collector';

/** What moto's CloudFormation makes of the stack: its functions need Docker, and of most other types it knows nothing. */
const deployedTypes = ['AWS::IAM::Policy', 'AWS::IAM::Role', 'AWS::S3::Bucket', 'AWS::SNS::Topic', 'AWS::SQS::Queue'];

/** The resources of these types. A reference to another is replaced by an ARN of nothing. */
function resourcesFor(template: ReturnType<typeof templateOf>) {
  const kept = Object.entries(template.Resources).filter(([, { Type }]) => deployedTypes.includes(Type));
  const names = kept.map(([name]) => name);
  const text = JSON.stringify(Object.fromEntries(kept), (member, value: unknown) => {
    if (member === 'DependsOn') return [value].flat().filter((name) => names.includes(String(name)));
    if (typeof value !== 'object' || value === null) return value;
    const { Ref: ref, 'Fn::GetAtt': attribute } = value as Record<string, unknown>;
    const name = Array.isArray(attribute) ? String(attribute[0]) : ref;
    return typeof name !== 'string' || names.includes(name) || name.startsWith('AWS::')
      ? value
      : `arn:aws:nothing:::${name}`;
  });
  // moto deletes what RetainExceptOnCreate keeps.
  return JSON.parse(text.replaceAll('"RetainExceptOnCreate"', '"Retain"')) as typeof template.Resources;
}

const credentials = { accessKeyId: 'moto', secretAccessKey: 'moto' };
const inRegion = { CreateBucketConfiguration: { LocationConstraint: 'eu-central-1' } } as const;

/** Lets moto check policies after so many requests. */
async function setChecks({ url }: MotoServer, after: string): Promise<void> {
  await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: after });
}

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

    it('the role of the function may read the list of clusters from outside, and no other key', async () => {
      await s3.send(new CreateBucketCommand({ Bucket: 'inventory', ...inRegion }));
      for (const Key of ['fleet/clusters.json', 'fleet/other.json'])
        await s3.send(new PutObjectCommand({ Bucket: 'inventory', Key, Body: '[]' }));
      const { StackResources = [] } = await cloudFormation.send(new DescribeStackResourcesCommand({ StackName }));
      const role = StackResources.find(({ LogicalResourceId: id = '' }) => id.startsWith('CollectorRole'));
      const ofRole = new S3Client({
        ...{ endpoint: moto.url, region: 'eu-central-1', forcePathStyle: true, maxAttempts: 1 },
        credentials: await assumeRole(
          moto.url,
          credentials,
          `arn:aws:iam::123456789012:role/${role?.PhysicalResourceId}`,
        ),
      });
      await setChecks(moto, '0');
      const read = (Key: string) =>
        ofRole.send(new GetObjectCommand({ Bucket: 'inventory', Key })).then(
          () => 'read',
          ({ name }: Error) => name,
        );
      expect(await Promise.all(['fleet/clusters.json', 'fleet/other.json'].map(read))).toEqual([
        'read',
        'AccessDenied',
      ]);
      await setChecks(moto, 'inf');
    });
  },
);
