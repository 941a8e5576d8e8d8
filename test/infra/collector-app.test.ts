import { type App, Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { everything, exampleApp, exampleTemplate, kmsKeyArn, type TemplateJson } from './example-stack';

const configurations: [string, Record<string, unknown>][] = [
  ['the shipped configuration', {}],
  ['everything that can be configured', everything],
  ['a fleet in shards', { shards: 4 }],
  ['keys of others', { archive: { kms: kmsKeyArn }, apiKeySecret: 'platform/clusters' }],
];

function check(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
}

describe('the stack', () => {
  it.each(configurations)('passes cdk-nag with %s', (_, changes) => {
    expect(() => check(exampleApp(changes).app)).not.toThrow();
  });

  it('fails cdk-nag with a queue that is not encrypted', () => {
    const { app, stack } = exampleApp();
    new Queue(stack, 'Careless');
    expect(() => check(app)).toThrow('AwsSolutions-SQS4');
  });

  it('keeps the logical ids of archive and secret, because a rename would split the archive', () => {
    const { Resources } = exampleTemplate({ archive: { kms: true } }).toJSON() as TemplateJson;
    const kept = Object.entries(Resources).filter(([, { DeletionPolicy }]) => DeletionPolicy === 'Retain');
    expect(kept.map(([id, { Type }]) => `${Type} ${id}`).sort()).toEqual([
      'AWS::KMS::Key ArchiveKey3EF5EDE5',
      'AWS::S3::Bucket ArchiveAccessLogs31F4F9D7',
      'AWS::S3::Bucket ArchiveBucket49F1AC64',
      'AWS::S3::BucketPolicy ArchiveAccessLogsPolicyDC10615C',
      'AWS::S3::BucketPolicy ArchiveBucketPolicy13E3D5ED',
      'AWS::SecretsManager::Secret ApiKeySecret51CD6EF2',
    ]);
  });

  it('has the configured name and tags, and termination protection', () => {
    const { app, stack } = exampleApp({ name: 'archive-of-stage', tags: { team: 'platform' } });
    const [artifact] = app.synth().stacks;
    expect(artifact?.stackName).toBe('archive-of-stage');
    expect(artifact?.tags).toEqual({ team: 'platform' });
    expect(stack.terminationProtection).toBe(true);
  });
});
