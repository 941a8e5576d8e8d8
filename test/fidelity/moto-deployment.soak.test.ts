import {
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { GetBucketEncryptionCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { templateOf } from '../infra/example-stack';
import { findCommand, type MotoServer, startMoto } from '../local/aws/moto-server';

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

const command = findCommand('moto_server');

(command === undefined ? describe.skip : describe)(
  'archive, roles and messages of the stack in moto (skipped where moto_server is not in the PATH)',
  () => {
    let moto: MotoServer;
    let cloudFormation: CloudFormationClient;
    let s3: S3Client;
    const template = templateOf({ shards: 2, audit: { schedule: 'cron(30 6 * * ? *)' } });
    const Resources = resourcesFor(template);

    beforeAll(async () => {
      moto = await startMoto(command ?? '');
      const credentials = { accessKeyId: 'moto', secretAccessKey: 'moto' };
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

    it('the archive is encrypted, and stays when the stack is deleted', async () => {
      const { StackResources = [] } = await cloudFormation.send(new DescribeStackResourcesCommand({ StackName }));
      const Bucket = StackResources.find(({ LogicalResourceId }) =>
        LogicalResourceId?.startsWith('ArchiveBucket'),
      )?.PhysicalResourceId;
      const { ServerSideEncryptionConfiguration } = await s3.send(new GetBucketEncryptionCommand({ Bucket }));
      const [rule] = ServerSideEncryptionConfiguration?.Rules ?? [];
      expect(rule?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm).toBe('AES256');
      await cloudFormation.send(new DeleteStackCommand({ StackName }));
      expect((await s3.send(new HeadBucketCommand({ Bucket }))).$metadata.httpStatusCode).toBe(200);
    });
  },
);
