import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack, type StackProps, Stage, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Repository } from 'aws-cdk-lib/aws-codecommit';
import { AccountPrincipal, ManagedPolicy, PermissionsBoundary, Role } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { CodePipeline, CodePipelineSource, ShellStep } from 'aws-cdk-lib/pipelines';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ClusterLogCollector, type ClusterLogCollectorProps } from '../../infra/cluster-log-collector';
import { parseConfig } from '../../infra/config/config';
import { configurationFile } from '../../lambda/stack-contract';
import { exampleJson, minimal, problemsOf } from './example-config';
import {
  allowedTo,
  audited,
  everything,
  resourceOf,
  resourcesOf,
  type TemplateJson,
  templateOf,
  textOf,
} from './example-stack';

const { context } = JSON.parse(readFileSync(join(__dirname, '..', '..', 'cdk.json'), 'utf8'));

/** An app of somebody else, with the feature flags that `cdk init` writes; nothing is bundled. */
function ownApp(): App {
  return new App({ context: { ...context, 'aws:cdk:bundling-stacks': [] }, builtinCloudFormationValidation: false });
}

function ownStack(props?: StackProps): Stack {
  return new Stack(ownApp(), 'Platform', props);
}

function jsonOf(stack: Stack): TemplateJson {
  return Template.fromStack(stack).toJSON() as TemplateJson;
}

/** Synthesises an app under cdk-nag. */
function findings(scope: App): () => void {
  Validations.of(scope).addPlugins(new AwsSolutionsChecks(scope));
  return () => scope.synth();
}

/** With the members of all lists in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => JSON.stringify(sorted(one))).sort();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sorted(member)]));
}

function messageOf(action: () => void): string {
  try {
    action();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

const env = { account: '111111111111', region: 'eu-central-1' };

const asProps = (value: unknown) => value as ClusterLogCollectorProps;

describe('the construct', () => {
  it('makes what the app of this repository makes of the same configuration', () => {
    const changes = { ...everything, name: 'Platform', shards: 2, tags: {} };
    const stack = ownStack();
    new ClusterLogCollector(stack, 'Default', asProps({ ...exampleJson(), ...changes }));
    expect(jsonOf(stack).Resources).toEqual(templateOf(changes).Resources);
  });

  it('is the same in an app that has no feature flags, but for the order in policies', () => {
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, builtinCloudFormationValidation: false });
    const stack = new Stack(app, 'Platform');
    new ClusterLogCollector(stack, 'Default', asProps({ ...exampleJson(), ...everything, shards: 2, tags: {} }));
    const flagged = ownStack();
    new ClusterLogCollector(flagged, 'Default', asProps({ ...exampleJson(), ...everything, shards: 2, tags: {} }));
    expect(sorted(jsonOf(stack).Resources)).toEqual(sorted(jsonOf(flagged).Resources));
  });

  it('has its bucket, functions, topics and alarms as properties', () => {
    const stack = ownStack();
    const one = new ClusterLogCollector(stack, 'Logs', asProps({ ...minimal, ...audited }));
    const json = jsonOf(stack);
    const id = (arn: string) => textOf(stack.resolve(arn));
    expect(id(one.bucket.bucketArn)).toBe('<LogsArchiveBucket.Arn>');
    expect(Object.values(one.functions).map((target) => id(target?.functionArn ?? 'none'))).toEqual([
      '<LogsCollectorFunction.Arn>',
      '<LogsAuditFunction.Arn>',
      '<LogsFailureMessagesFunction.Arn>',
    ]);
    expect(id(one.topics.page.topicArn)).toBe('<LogsAlertsTopic>');
    expect(one.topics.inform).toBe(one.topics.page);
    expect(one.alarms).toHaveLength(resourcesOf(json, 'AWS::CloudWatch::Alarm').length);
    expect(one.encryptionKey).toBeUndefined();
  });

  it('lets a reader list, read and decrypt, and nothing else', () => {
    const stack = ownStack();
    const reader = new Role(stack, 'Reader', { assumedBy: new AccountPrincipal('111111111111') });
    new ClusterLogCollector(stack, 'Logs', asProps({ ...minimal, archive: { kms: true } })).grantRead(reader);
    expect(allowedTo(jsonOf(stack), 'Reader')).toEqual([
      'kms:Decrypt <LogsArchiveKey.Arn>',
      's3:GetObject <LogsArchiveBucket.Arn>/*',
      's3:ListBucket <LogsArchiveBucket.Arn>',
      's3:ListBucketVersions <LogsArchiveBucket.Arn>',
    ]);
  });

  it.each([
    [
      'a name, an expression and a uid',
      { ...minimal, name: '1', schedule: { expression: 'rate(1 hour)' }, clusters: [''] },
    ],
    ['an unknown member', { ...minimal, cluster: ['a'] }],
    ['a file that is not there', { ...minimal, clusters: { file: 'nowhere.json' } }],
    ['nothing at all', {}],
  ])('refuses a wrong configuration with the messages of a file, all at once: %s', (_, props) => {
    const found = problemsOf(() => new ClusterLogCollector(ownStack(), 'Logs', asProps(props)));
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(problemsOf(() => parseConfig(props, join(process.cwd(), 'any.json'))));
  });

  it('says which construct a message is about', () => {
    expect(() => new ClusterLogCollector(ownStack(), 'Logs', asProps({ ...minimal, shards: 0 }))).toThrow(
      /^The configuration of Platform\/Logs cannot be used:\n {2}shards: received 0/,
    );
  });

  it.each([
    ['another account', { env }, { ...env, account: '222222222222' }, 'deployTo.account', '111111111111, as'],
    ['another region', { env }, { ...env, region: 'eu-west-1' }, 'deployTo.region', 'eu-central-1, as'],
    ['a stack without an env', {}, env, 'deployTo.account', 'the stack to have this account in its env'],
    ['another partition', { env: { region: 'cn-north-1' } }, undefined, "region of the stack's env", 'partition aws'],
  ])('refuses %s than the configuration means', (_, props, deployTo, path, expected) => {
    const [first] = problemsOf(
      () => new ClusterLogCollector(ownStack(props), 'Logs', asProps({ ...minimal, ...(deployTo && { deployTo }) })),
    );
    expect(first).toMatchObject({ path, expected: expect.stringContaining(expected) });
  });

  it('takes the place that its stack has', () => {
    expect(
      () => new ClusterLogCollector(ownStack({ env }), 'Logs', asProps({ ...minimal, deployTo: env })),
    ).not.toThrow();
  });

  it('puts the configured tags on what it makes, and on nothing else', () => {
    const stack = ownStack();
    new Topic(stack, 'Other');
    new ClusterLogCollector(stack, 'Logs', asProps({ ...minimal, tags: { team: 'platform' } }));
    const json = jsonOf(stack);
    const { Tags } = resourceOf(json, 'AWS::S3::Bucket', 'LogsArchiveBucket').Properties;
    expect(Tags).toContainEqual({ Key: 'team', Value: 'platform' });
    expect(resourceOf(json, 'AWS::SNS::Topic', 'Other').Properties ?? {}).not.toHaveProperty('Tags');
  });
});

describe('two in one stack', () => {
  /** Two collectors in one stack, the second with everything. */
  function twoCollectors(app: App | Stage): Stack {
    const stack = new Stack(app, 'Platform', { env });
    new ClusterLogCollector(stack, 'Production', asProps({ ...minimal, name: 'production', clusters: ['p-1'] }));
    new ClusterLogCollector(stack, 'Lab', asProps({ ...minimal, ...everything, name: 'lab', clusters: ['l-1'] }));
    return stack;
  }

  it('pass cdk-nag, and each collects its own clusters', () => {
    const app = ownApp();
    const stack = twoCollectors(app);
    expect(findings(app)).not.toThrow();
    const { files } = JSON.parse(readFileSync(join(app.outdir, 'Platform.assets.json'), 'utf8'));
    const collected = resourcesOf(jsonOf(stack), 'AWS::Lambda::Function').flatMap(([id, { Properties }]) => {
      const { S3Key } = Properties.Code as { S3Key: string };
      const file = join(app.outdir, files[S3Key.replace('.zip', '')].source.path, configurationFile);
      return existsSync(file) ? [[id.slice(0, 3), JSON.parse(readFileSync(file, 'utf8')).clusters[0].uid]] : [];
    });
    expect(Object.fromEntries(collected)).toEqual({ Pro: 'p-1', Lab: 'l-1' });
  });

  it('have outputs of their own, and commands that name them', () => {
    const json = jsonOf(twoCollectors(ownApp()));
    expect(Object.keys(json.Outputs ?? {})).toEqual(
      expect.arrayContaining(['ProductionArchiveBucket', 'LabArchiveBucket', 'ProductionSetApiKey']),
    );
    const { Variables } = resourceOf(json, 'AWS::Lambda::Function', 'ProductionCollector').Properties.Environment as {
      Variables: Record<string, string>;
    };
    expect(Variables.STACK).toBe('Platform/Production');
  });

  it('need two names', () => {
    const stack = ownStack();
    new ClusterLogCollector(stack, 'One', minimal);
    const [first] = problemsOf(() => new ClusterLogCollector(stack, 'Two', minimal));
    expect(first).toMatchObject({ path: 'name', received: '"collector"' });
  });

  it('get the permissions boundary of their stack on every role', () => {
    const app = ownApp();
    const stack = twoCollectors(app);
    PermissionsBoundary.of(stack).apply(ManagedPolicy.fromManagedPolicyName(stack, 'Fence', 'fence'));
    expect(findings(app)).not.toThrow();
    const roles = resourcesOf(jsonOf(stack), 'AWS::IAM::Role');
    expect(roles).toHaveLength(9);
    for (const [, { Properties }] of roles) expect(textOf(Properties)).toMatch(/PermissionsBoundary: .*:policy\/fence/);
  });

  it('pass cdk-nag in a stage of a pipeline, which uploads what they consist of', () => {
    const app = ownApp();
    const pipelineStack = new Stack(app, 'Pipeline', { env });
    const pipeline = new CodePipeline(pipelineStack, 'Pipeline', {
      synth: new ShellStep('Synth', {
        input: CodePipelineSource.codeCommit(Repository.fromRepositoryName(pipelineStack, 'Source', 'own-app'), 'main'),
        commands: ['npx cdk synth'],
      }),
    });
    const stage = new Stage(app, 'Production');
    const stack = twoCollectors(stage);
    pipeline.addStage(stage);
    const found = messageOf(findings(app)).split('\n');
    // What the pipeline itself consists of has findings, so something was looked at.
    expect(found.filter((line) => / Pipeline\//.test(line))).not.toEqual([]);
    expect(found.filter((line) => / Production\//.test(line))).toEqual([]);
    expect(stack.stackName).toBe('Production-Platform');
    const { Variables } = resourceOf(jsonOf(stack), 'AWS::Lambda::Function', 'LabCollector').Properties.Environment as {
      Variables: Record<string, string>;
    };
    expect(Variables.STACK).toBe('Production-Platform/Lab');
  });
});
