import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
  UpdateStackCommand,
} from '@aws-sdk/client-cloudformation';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { credentials, resourcesFor } from '../fidelity/moto-stack';
import type { TemplateJson } from '../infra/example-stack';
import { statefulOf } from '../infra/template-pairs';
import { findCommand, type MotoServer, startMoto } from '../local/aws/moto-server';
import { configurations, keptTemplate, synthesise } from './fixtures';

const command = findCommand('moto_server');

(command === undefined ? describe.skip : describe)(
  'a stack of 1.0 in moto (skipped where moto_server is not in the PATH)',
  () => {
    let moto: MotoServer;
    let cloudFormation: CloudFormationClient;
    let s3: S3Client;

    beforeAll(async () => {
      moto = await startMoto(command ?? '');
      const target = { endpoint: moto.url, region: 'eu-central-1', credentials };
      cloudFormation = new CloudFormationClient(target);
      s3 = new S3Client({ ...target, forcePathStyle: true });
    });
    afterAll(() => moto.stop());

    const bodyOf = (template: TemplateJson) => JSON.stringify({ Resources: resourcesFor(template) });

    async function physicalIds(StackName: string): Promise<Map<string, string>> {
      const { StackResources = [] } = await cloudFormation.send(new DescribeStackResourcesCommand({ StackName }));
      return new Map(StackResources.map((one) => [one.LogicalResourceId ?? '', one.PhysicalResourceId ?? '']));
    }

    it.each(configurations)('is updated to this version, and keeps what holds something: %s', async (StackName) => {
      const before = keptTemplate(StackName);
      await cloudFormation.send(new CreateStackCommand({ StackName, TemplateBody: bodyOf(before) }));
      const stateful = [...statefulOf({ ...before, Resources: resourcesFor(before) }).keys()];
      const old = await physicalIds(StackName);
      const Bucket = old.get('ArchiveBucket49F1AC64');
      await s3.send(new PutObjectCommand({ Bucket, Key: 'runs/kept', Body: 'kept' }));

      // Something changes in any case: CloudFormation refuses an update without a change.
      const after = synthesise(StackName);
      const changed = { ...after.Resources, Further: { Type: 'AWS::SQS::Queue', Properties: {} } };
      const TemplateBody = bodyOf({ ...after, Resources: changed });
      await cloudFormation.send(new UpdateStackCommand({ StackName, TemplateBody }));

      const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
      expect(Stacks?.[0]?.StackStatus).toBe('UPDATE_COMPLETE');
      const now = await physicalIds(StackName);
      expect(stateful.length).toBeGreaterThan(3);
      expect(stateful.map((id) => [id, now.get(id)])).toEqual(stateful.map((id) => [id, old.get(id)]));
      expect(now.has('Further')).toBe(true);
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'runs/kept' }));
      expect(await Body?.transformToString()).toBe('kept');
    });
  },
);
