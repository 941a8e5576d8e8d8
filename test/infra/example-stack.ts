import { Template } from 'aws-cdk-lib/assertions';
import { createApp } from '../../infra/collector-app';
import { exampleConfig } from './example-config';

export const kmsKeyArn = 'arn:aws:kms:eu-central-1:111111111111:key/11111111-2222-3333-4444-555555555555';

/** What a platform team may add to the shipped configuration, all of it. */
export const everything = {
  apiKeySecret: { name: 'platform/clusters', kmsKeyArn },
  archive: { kms: true, infrequentAccessAfterDays: 30, retentionDays: 400, objectLockDays: 90 },
  alerts: { emails: ['on-call@example.com'] },
  network: {
    vpcId: 'vpc-0123456789abcdef0',
    subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
    securityGroupIds: ['sg-0123456789abcdef0'],
  },
  tags: { team: 'platform' },
  testEvents: true,
  athenaTables: true,
};

/** The app of the shipped configuration with other members; nothing is bundled. */
export function exampleApp(changes: Record<string, unknown> = {}, validate = false) {
  const config = exampleConfig(changes);
  return { config, ...createApp({ config, validate, context: { 'aws:cdk:bundling-stacks': [] } }) };
}

export function exampleTemplate(changes?: Record<string, unknown>): Template {
  return Template.fromStack(exampleApp(changes).stack);
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
}

/** Resources of a type, by logical id. */
export function resourcesOf(json: TemplateJson, type: string): [string, Resource][] {
  return Object.entries(json.Resources).filter(([, resource]) => resource.Type === type);
}

/** The one resource of a type whose logical id begins so. */
export function resourceOf(json: TemplateJson, type: string, prefix = ''): Resource {
  const [first, ...others] = resourcesOf(json, type).filter(([id]) => id.startsWith(prefix));
  if (first === undefined || others.length > 0)
    throw new Error(`expected one ${type} ${prefix}, found ${others.length}`);
  return first[1];
}

export function statementsOf(policy: Resource): Statement[] {
  return (policy.Properties.PolicyDocument as { Statement: Statement[] }).Statement;
}

/** What a role allows, in words: one `action resource [condition]` each, sorted; managed and inline policies included. */
export function allowedTo(json: TemplateJson, rolePrefix: string): string[] {
  const role = resourceOf(json, 'AWS::IAM::Role', rolePrefix);
  const attached = resourcesOf(json, 'AWS::IAM::Policy').filter(([id]) => id.startsWith(rolePrefix));
  const managed = ((role.Properties.ManagedPolicyArns as unknown[]) ?? []).map((arn) => `managed policy ${tell(arn)}`);
  const inline = ((role.Properties.Policies as unknown[]) ?? []).map((policy) => `inline policy ${tell(policy)}`);
  const statements = attached.flatMap(([, policy]) => statementsOf(policy)).filter(({ Effect }) => Effect === 'Allow');
  return [...managed, ...inline, ...statements.flatMap(tellStatement)].sort();
}

function tellStatement({ Action, Resource, Condition }: Statement): string[] {
  const condition = Condition === undefined ? '' : ` if ${tell(Condition)}`;
  return [Action].flat().flatMap((action) => [Resource].flat().map((on) => `${action} ${tell(on)}${condition}`));
}

/** A value with intrinsic functions, readable: `<Id>`, `<Id.Arn>`. */
export function tell(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Record<string, unknown>;
  if (typeof Ref === 'string') return `<${stable(Ref)}>`;
  if (Array.isArray(attribute)) return `<${stable(attribute[0])}.${attribute[1]}>`;
  if (Array.isArray(join)) return (join[1] as unknown[]).map(tell).join(join[0] as string);
  return `{${Object.entries(value)
    .map(([name, part]) => `${name}: ${tell(part)}`)
    .join(', ')}}`;
}

/** A logical id without its hash. */
function stable(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, '');
}
