import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { createApp } from '../../infra/collector-app';
import { exampleConfig, exampleJson } from './example-config';

export const kmsKeyArn = 'arn:aws:kms:eu-central-1:111111111111:key/11111111-2222-3333-4444-555555555555';
export const topicArn = 'arn:aws:sns:eu-central-1:111111111111:on-call';
const formerKeyArn = 'arn:aws:kms:eu-central-1:111111111111:key/former';
const otherBucketArn = 'arn:aws:s3:::copies-of-the-archive';

/** Everything that can be added to the shipped configuration. */
export const everything = {
  apiKeySecret: { name: 'platform/clusters', kmsKeyArn },
  archive: {
    kms: true,
    formerKmsKeyArns: [formerKeyArn],
    retentionDays: 400,
    objectLock: { days: 90, mode: 'compliance' },
    readers: ['arn:aws:iam::222222222222:role/auditor'],
    replicateTo: { bucketArn: otherBucketArn, account: '222222222222', kmsKeyArn },
  },
  clusters: ['prod-eu-1', { uid: 'lab-1', optional: true }],
  alerts: { page: { emails: ['on-call@example.com'] } },
  network: {
    subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
    securityGroupIds: ['sg-0123456789abcdef0'],
  },
  tags: { team: 'platform' },
  audit: {
    schedule: 'cron(30 6 * * ? *)',
    rereadDays: 90,
    alarms: { staleAfterHours: 48, frozenAfterHours: 26, logGaps: true },
  },
};

/** The shipped configuration with an audit. */
export const audited = { audit: { schedule: 'cron(30 6 * * ? *)' } };

/** Configurations that together use everything there is. */
export const configurations: [string, Record<string, unknown>][] = [
  ['the shipped configuration', {}],
  ['everything that can be added', everything],
  ['a fleet in shards', { shards: 4 }],
  ['an audit', audited],
  [
    'keys and a secret of others',
    {
      archive: { kms: kmsKeyArn, readers: ['arn:aws:iam::222222222222:role/auditor'] },
      apiKeySecret: 'platform/clusters',
      audit: { ...audited.audit, signingKeyArn: kmsKeyArn },
    },
  ],
  [
    'an existing topic, in one account and region',
    {
      deployTo: { account: '111111111111', region: 'eu-central-1' },
      shards: 2,
      alerts: { page: { topicArn, kmsKeyArn } },
    },
  ],
  [
    'two groups and a monitoring service outside, in shards, one run at a time',
    {
      alerts: {
        page: { topicArn, kmsKeyArn },
        inform: { emails: ['day@example.com'] },
        pageFrom: { missingPercent: 5 },
        heartbeat: { secret: 'monitoring/heartbeat' },
      },
      limits: { oneRunAtATime: true },
      shards: 2,
      ...audited,
    },
  ],
  [
    'a monitoring service outside',
    { alerts: { heartbeat: { secret: 'monitoring/heartbeat' } }, network: everything.network, ...audited },
  ],
  ['a copy in the same account', { archive: { replicateTo: { bucketArn: otherBucketArn } } }],
  ['everything, in shards, one run at a time', { ...everything, shards: 8, limits: { oneRunAtATime: true } }],
  [
    'schedules for which CloudWatch looks back too short a time',
    { schedule: { expression: 'cron(0 6 ? * SUN *)' }, audit: { schedule: 'cron(30 6 1,15 * ? *)' } },
  ],
];

/** The app of the shipped configuration with other members; nothing is bundled. */
export function exampleApp(changes: Record<string, unknown> = {}, validate = false) {
  const config = exampleConfig(changes);
  return { config, ...createApp({ config, validate, context: { 'aws:cdk:bundling-stacks': [] } }) };
}

/** The template of that app, which is synthesised once for all test files of a run. */
export function exampleTemplate(changes: Record<string, unknown> = {}): Template {
  return Template.fromJSON(templateOf(changes) as never);
}

/** The same as JSON. */
export function templateOf(changes: Record<string, unknown> = {}): TemplateJson {
  return synthesised(changes).template;
}

/** What a synthesis of that app tells people, as far as it fits the pattern. */
export function toldAtSynth(changes: Record<string, unknown>, pattern: RegExp): string[] {
  return synthesised(changes).told.filter((text) => pattern.test(text));
}

function synthesised(changes: Record<string, unknown>): { readonly template: TemplateJson; readonly told: string[] } {
  const configuration = JSON.stringify({ ...exampleJson(), ...changes });
  const file = join(tmpdir(), `template-${createHash('sha256').update(configuration).digest('hex')}.json`);
  if (!existsSync(file)) {
    const { app, config } = exampleApp(changes);
    const { template, messages } = app.synth().getStackByName(config.name);
    // Whole at once: another process may be looking for it.
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, JSON.stringify({ template, told: messages.map(({ entry }) => String(entry.data)) }));
    renameSync(unfinished, file);
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}

export interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
  DependsOn?: string[];
}

export interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Principal?: unknown;
  Condition?: Record<string, Record<string, unknown>>;
  Sid?: string;
}

export interface TemplateJson {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, { Value: unknown }>;
}

/** Resources of a type, by logical id. */
export function resourcesOf(json: TemplateJson, type: string): [string, Resource][] {
  return Object.entries(json.Resources).filter(([, resource]) => resource.Type === type);
}

/** The only resource of a type whose logical id begins with a prefix. */
export function resourceOf(json: TemplateJson, type: string, prefix = ''): Resource {
  const [first, ...others] = resourcesOf(json, type).filter(([id]) => id.startsWith(prefix));
  if (first === undefined || others.length > 0)
    throw new Error(`expected one ${type} ${prefix}, found ${others.length}`);
  return first[1];
}

export function statementsOf(policy: Resource): Statement[] {
  return (policy.Properties.PolicyDocument as { Statement: Statement[] }).Statement;
}

/** What a role allows: lines of `action resource [if condition]`, sorted, with managed and inline policies. */
export function allowedTo(json: TemplateJson, rolePrefix: string): string[] {
  const role = resourceOf(json, 'AWS::IAM::Role', rolePrefix);
  const attached = resourcesOf(json, 'AWS::IAM::Policy').filter(([id]) => id.startsWith(rolePrefix));
  const managed = ((role.Properties.ManagedPolicyArns as unknown[]) ?? []).map(
    (arn) => `managed policy ${textOf(arn)}`,
  );
  const inline = ((role.Properties.Policies as unknown[]) ?? []).map((policy) => `inline policy ${textOf(policy)}`);
  const statements = attached.flatMap(([, policy]) => statementsOf(policy)).filter(({ Effect }) => Effect === 'Allow');
  return [...managed, ...inline, ...statements.flatMap(statementLines)].sort();
}

function statementLines({ Action, Resource, Condition }: Statement): string[] {
  const condition = Condition === undefined ? '' : ` if ${textOf(Condition)}`;
  return [Action].flat().flatMap((action) => [Resource].flat().map((on) => `${action} ${textOf(on)}${condition}`));
}

/**
 * What resources say themselves of who may use them, by logical id: lines of `effect actions [on resources] to principals
 * [if condition]`.
 */
export function policiesOf(json: TemplateJson): Record<string, string[]> {
  const documents = Object.entries(json.Resources).flatMap(([id, { Type, Properties }]) => {
    const { PolicyDocument, KeyPolicy, AssumeRolePolicyDocument } = Properties;
    const document = (PolicyDocument ?? KeyPolicy ?? AssumeRolePolicyDocument) as
      | { Statement: Statement[] }
      | undefined;
    return document === undefined || Type === 'AWS::IAM::Policy' ? [] : [[stable(id), document.Statement] as const];
  });
  return Object.fromEntries(documents.map(([id, statements]) => [id, statements.map(policyLine)]));
}

function policyLine({ Effect, Action, Resource, Principal, Condition }: Statement): string {
  const on = Resource === undefined ? '' : ` on ${[Resource].flat().map(textOf).join(' ')}`;
  const condition = Condition === undefined ? '' : ` if ${textOf(Condition)}`;
  return `${Effect} ${[Action].flat().join(' ')}${on} to ${textOf(Principal)}${condition}`;
}

/** A value as readable text; references are `<Id>` and `<Id.Arn>`. */
export function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Record<string, unknown>;
  if (typeof Ref === 'string') return `<${stable(Ref)}>`;
  if (Array.isArray(attribute)) return `<${stable(attribute[0])}.${attribute[1]}>`;
  if (Array.isArray(join)) return (join[1] as unknown[]).map(textOf).join(join[0] as string);
  return `{${Object.entries(value)
    .map(([name, part]) => `${name}: ${textOf(part)}`)
    .join(', ')}}`;
}

/** A logical id without its hash. */
function stable(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, '');
}
