import { type App, Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { createApp } from '../../infra/collector-app';
import { exampleConfig } from './example-config';
import {
  audited,
  configurations,
  everything,
  exampleApp,
  resourcesOf,
  templateOf,
  textOf,
  toldAtSynth,
} from './example-stack';
import { operations } from './guides';

function check(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
}

describe('the stack', () => {
  // The first two have nothing of what can be added, and everything.
  // `synth.soak.test.ts` has the others.
  it.each(configurations.slice(0, 2))('passes cdk-nag with %s', (_, changes) => {
    expect(() => check(exampleApp(changes).app)).not.toThrow();
  });

  it('fails cdk-nag with a queue that is not encrypted', () => {
    const { app, stack } = exampleApp();
    new Queue(stack, 'Careless');
    expect(() => check(app)).toThrow('AwsSolutions-SQS4');
  });

  it('keeps archive, secret and keys, under the same logical ids, which the operations guide lists to be taken over', () => {
    const { Resources } = templateOf({ archive: { kms: true }, ...audited });
    const kept = Object.entries(Resources).filter(
      ([, { DeletionPolicy, UpdateReplacePolicy }]) =>
        DeletionPolicy === 'RetainExceptOnCreate' && UpdateReplacePolicy === 'Retain',
    );
    expect(kept.map(([id, { Type }]) => `${Type} ${id}`).sort()).toEqual([
      'AWS::KMS::Key ArchiveKey3EF5EDE5',
      'AWS::KMS::Key AuditSigningKey58F79527',
      'AWS::S3::Bucket ArchiveAccessLogs31F4F9D7',
      'AWS::S3::Bucket ArchiveBucket49F1AC64',
      'AWS::S3::BucketPolicy ArchiveAccessLogsPolicyDC10615C',
      'AWS::S3::BucketPolicy ArchiveBucketPolicy13E3D5ED',
      'AWS::SecretsManager::Secret ApiKeySecret51CD6EF2',
    ]);
    const listed = [...operations.matchAll(/^ {9}"(\w+)": \{ "\w+": "/gm)].map(([, id]) => id);
    // Policies are made anew, and so is the signing key: test/infra/import.test.ts says why.
    const takenOver = kept.flatMap(([id, { Type }]) =>
      Type === 'AWS::S3::BucketPolicy' || id.startsWith('AuditSigningKey') ? [] : id,
    );
    expect(listed.sort()).toEqual(takenOver.sort());
  });

  it('gives every role the permissions boundary, and the qualifier, that cdk.json may name', () => {
    const context = {
      'aws:cdk:bundling-stacks': [],
      '@aws-cdk/core:permissionsBoundary': { name: 'fence' },
      '@aws-cdk/core:bootstrapQualifier': 'fleet1',
    };
    const config = exampleConfig({ ...everything, shards: 2 });
    const { template } = createApp({ config, validate: false, context }).app.synth().getStackByName(config.name);
    const roles = resourcesOf(template, 'AWS::IAM::Role').map(([, { Properties }]) => textOf(Properties));
    expect(roles).toHaveLength(7);
    for (const role of roles) expect(role).toMatch(/PermissionsBoundary: .*:policy\/fence/);
    expect(JSON.stringify(template)).toContain('cdk-fleet1-assets-');
  });

  it('has the configured name and tags, and termination protection', () => {
    const { app, stack } = exampleApp({ name: 'archive-of-stage', tags: { team: 'platform' } });
    const [artifact] = app.synth().stacks;
    expect(artifact?.stackName).toBe('archive-of-stage');
    expect(artifact?.tags).toEqual({ team: 'platform' });
    expect(stack.terminationProtection).toBe(true);
  });

  it('is pinned to an account and a region if they are configured', () => {
    const environmentOf = (changes: Record<string, unknown>) => exampleApp(changes).app.synth().stacks[0]?.environment;
    const deployTo = { account: '111111111111', region: 'eu-central-1' };
    expect(environmentOf({ deployTo })).toMatchObject(deployTo);
    expect(environmentOf({})).toMatchObject({ account: 'unknown-account', region: 'unknown-region' });
  });

  it.each([
    ['cron(0/15 * * * ? *)', 1, {}, 'after 15 minutes, and a run with its retries may last 48 minutes'],
    ['cron(0,10 3 1 * ? *)', 1, {}, 'after 10 minutes'],
    ['cron(0 * * * ? *)', 4, {}, 'may last 1.5 hours'],
    ['cron(0 * * * ? *)', 1, {}, undefined],
    ['cron(0/15 * * * ? *)', 1, { oneRunAtATime: true }, undefined],
  ])('warns where firings of %s with %p shards are closer than a run may last, unless they wait: %j', (expression, shards, limits, expected) => {
    const warnings = toldAtSynth({ schedule: { expression }, shards, limits }, /limits\.oneRunAtATime/);
    expect(warnings).toEqual(expected === undefined ? [] : [expect.stringContaining(expected)]);
  });

  it('warns of an end of being optional that is over, or more than 366 days ahead', () => {
    jest.useFakeTimers({
      now: new Date('2026-11-28T12:00:00Z'),
      doNotFake: ['nextTick', 'performance', 'setImmediate'],
    });
    try {
      const clusters = ['2026-11-27', '2026-11-28', '2027-11-29', '2027-11-30'].map((until) => ({
        uid: `to-${until}`,
        optional: { until },
      }));
      expect(toldAtSynth({ clusters }, /optional\.until/)).toEqual([
        expect.stringMatching(/is over, .*: to-2026-11-27 \(2026-11-27\)\. \[/),
        expect.stringMatching(/is more than 366 days ahead .*: to-2027-11-30 \(2027-11-30\)\. \[/),
      ]);
      const many = Array.from({ length: 7 }, (_, at) => ({ uid: `c-${at}`, optional: { until: '2026-01-31' } }));
      expect(toldAtSynth({ clusters: many }, /c-4 \(2026-01-31\), 2 more\. \[/)).toHaveLength(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('warns where audits cannot keep up', () => {
    const clusters = Array.from({ length: 20_000 }, (_, index) => `c-${index}`);
    const warnings = (schedule: string) => toldAtSynth({ clusters, audit: { schedule } }, /cannot keep up/);
    expect(warnings('cron(30 6 * * ? *)')).toEqual([expect.stringContaining('"How often to audit"')]);
    expect(warnings('cron(30 0/2 * * ? *)')).toEqual([]);
  });
});
