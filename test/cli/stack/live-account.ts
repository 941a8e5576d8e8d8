import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { refusalOf } from '../../../local/aws/iam/authorize';
import { rolePolicySchema } from '../../../local/aws/iam/policy-document';
import { StackTemplate, type Template } from '../../../local/deployment/stack-template';

export const accountId = '111122223333';
export const region = 'eu-central-1';

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A policy as AWS gives it back. */
interface Policy {
  Statement: Record<string, unknown>[];
}

interface LiveBucket {
  /** Undefined: it has none. */
  policy: Policy | undefined;
  /** Each of these as XML; undefined: it was never set. */
  lifecycle: string | undefined;
  versioning: string | undefined;
  objectLock: string | undefined;
  replication: string | undefined;
  publicAccessBlock: string | undefined;
  encryption: string | undefined;
}

interface LiveRole {
  arn: string;
  id: string;
  trust: Policy;
  inline: Record<string, Policy>;
  managed: string[];
  boundary: string | undefined;
}

interface LiveKey {
  arn: string;
  state: string;
  policy: Policy;
}

/** What is in an account after a stack was deployed there, by logical id, and what S3, KMS and IAM say of it. */
export class LiveAccount {
  readonly buckets: Record<string, LiveBucket> = {};
  readonly roles: Record<string, LiveRole> = {};
  readonly keys: Record<string, LiveKey> = {};
  /** Logical id, type and physical id. */
  readonly resources: (readonly [logicalId: string, type: string, physicalId: string])[] = [];
  /** What IAM decides about an action whatever the policies say, as an organisation may, and keys that it misses. */
  decides: (action: string) => { readonly decision: string; readonly missing?: string } | undefined = () => undefined;
  readonly #template: Template;

  constructor(template: Template, stackName: string, names: Readonly<Record<string, string>> = {}) {
    this.#template = template;
    const stack = new StackTemplate(template, { stackName, accountId, region }, new Map(Object.entries(names)));
    const all = (type: string) => stack.resourcesOf(type);
    for (const type of new Set(Object.values(template.Resources).map(({ Type }) => Type)))
      for (const resource of all(type)) {
        let physicalId = resource.logicalId;
        try {
          physicalId = resource.identity.ref;
        } catch {
          // A type without a name of its own here.
        }
        this.resources.push([resource.logicalId, type, names[resource.logicalId] ?? physicalId]);
      }
    const policies = all('AWS::S3::BucketPolicy').map((policy) =>
      policy.read(z.looseObject({ Bucket: z.string(), PolicyDocument: policySchema })),
    );
    for (const bucket of all('AWS::S3::Bucket')) {
      const own = policies.find(({ Bucket }) => Bucket === bucket.identity.ref);
      this.buckets[bucket.logicalId] = {
        policy: own && asAws(own.PolicyDocument),
        ...bucketXml(bucket.read(bucketSchema)),
      };
    }
    for (const key of all('AWS::KMS::Key')) {
      const { KeyPolicy } = key.read(z.looseObject({ KeyPolicy: policySchema }));
      this.keys[key.logicalId] = { arn: key.identity.arn, state: 'Enabled', policy: asAws(KeyPolicy) };
    }
    const attached = all('AWS::IAM::Policy').map((policy) =>
      policy.read(z.looseObject({ PolicyName: z.string(), PolicyDocument: policySchema, Roles: z.array(z.string()) })),
    );
    for (const role of all('AWS::IAM::Role')) {
      const { AssumeRolePolicyDocument } = role.read(z.looseObject({ AssumeRolePolicyDocument: policySchema }));
      const own = attached.filter(({ Roles }) => Roles.includes(role.identity.ref));
      this.roles[role.logicalId] = {
        ...{ arn: role.identity.arn, id: `AROA${role.logicalId.toUpperCase()}`, managed: [], boundary: undefined },
        trust: asAws(AssumeRolePolicyDocument),
        inline: Object.fromEntries(own.map(({ PolicyName, PolicyDocument }) => [PolicyName, asAws(PolicyDocument)])),
      };
    }
  }

  /** Name of a call that is answered here, such as `s3:GetBucketPolicy`; undefined for any other. */
  callOf(request: IncomingMessage, body: string): string | undefined {
    const target = String(request.headers['x-amz-target'] ?? '');
    if (/^TrentService\.(DescribeKey|GetKeyPolicy|GetPublicKey)$/.test(target)) return `kms:${target.slice(13)}`;
    const action = new URLSearchParams(body).get('Action');
    if (action === 'GetTemplate') return 'cloudformation:GetTemplate';
    if (action !== null && action in this.#iam) return `iam:${action}`;
    const query = new URL(request.url ?? '', 'http://s3').searchParams;
    const [, operation] = Object.entries(bucketQueries).find(([name]) => query.has(name)) ?? [];
    return request.method === 'GET' && operation !== undefined ? `s3:${operation}` : undefined;
  }

  answer(call: string, request: IncomingMessage, body: string): Answer {
    const [service = '', operation = ''] = call.split(':');
    if (service === 's3')
      return this.#ofBucket(operation, new URL(request.url ?? '', 'http://s3').pathname.split('/')[1] ?? '');
    if (service === 'kms') return this.#ofKey(operation, JSON.parse(body).KeyId);
    const parameters = new URLSearchParams(body);
    const result = service === 'cloudformation' ? this.#templateXml() : this.#iam[operation]?.(parameters);
    return { body: `<${operation}Response><${operation}Result>${result}</${operation}Result></${operation}Response>` };
  }

  #templateXml() {
    return `<TemplateBody>${escaped(JSON.stringify(this.#template))}</TemplateBody>`;
  }

  #ofBucket(operation: string, name: string): Answer {
    const [logicalId = ''] = this.resources.find(([, , id]) => id === name) ?? [];
    const bucket = this.buckets[logicalId];
    if (bucket === undefined) return { status: 404, body: '<Error><Code>NoSuchBucket</Code></Error>' };
    const [code, body] = {
      GetBucketPolicy: ['NoSuchBucketPolicy', bucket.policy && JSON.stringify(bucket.policy)],
      GetBucketLifecycleConfiguration: ['NoSuchLifecycleConfiguration', bucket.lifecycle],
      GetBucketVersioning: ['', bucket.versioning ?? '<VersioningConfiguration/>'],
      GetObjectLockConfiguration: ['ObjectLockConfigurationNotFoundError', bucket.objectLock],
      GetBucketReplication: ['ReplicationConfigurationNotFoundError', bucket.replication],
      GetPublicAccessBlock: ['NoSuchPublicAccessBlockConfiguration', bucket.publicAccessBlock],
      GetBucketEncryption: ['ServerSideEncryptionConfigurationNotFoundError', bucket.encryption],
    }[operation] ?? ['NotImplemented', undefined];
    if (body === undefined) return { status: 404, body: `<Error><Code>${code}</Code></Error>` };
    return { body };
  }

  #ofKey(operation: string, arn: string): Answer {
    const key = Object.values(this.keys).find((one) => one.arn === arn);
    if (key === undefined) return { status: 400, body: JSON.stringify({ __type: 'NotFoundException' }) };
    if (operation === 'GetPublicKey') return { body: JSON.stringify({ PublicKey: publicKey }) };
    if (operation === 'GetKeyPolicy') return { body: JSON.stringify({ Policy: JSON.stringify(key.policy) }) };
    return { body: JSON.stringify({ KeyMetadata: { KeyId: arn, Arn: key.arn, KeyState: key.state } }) };
  }

  readonly #iam: Readonly<Record<string, (parameters: URLSearchParams) => string>> = {
    GetRole: (parameters: URLSearchParams) => {
      const { arn, id, trust, boundary } = this.#role(parameters);
      const limit =
        boundary &&
        `<PermissionsBoundary><PermissionsBoundaryArn>${boundary}</PermissionsBoundaryArn></PermissionsBoundary>`;
      return `<Role><Arn>${arn}</Arn><RoleId>${id}</RoleId><AssumeRolePolicyDocument>${encodeURIComponent(JSON.stringify(trust))}</AssumeRolePolicyDocument>${limit ?? ''}</Role>`;
    },
    ListRolePolicies: (parameters: URLSearchParams) =>
      `<PolicyNames>${Object.keys(this.#role(parameters).inline)
        .map((name) => `<member>${name}</member>`)
        .join('')}</PolicyNames>`,
    GetRolePolicy: (parameters: URLSearchParams) => {
      const document = this.#role(parameters).inline[parameters.get('PolicyName') ?? ''];
      return `<PolicyDocument>${encodeURIComponent(JSON.stringify(document))}</PolicyDocument>`;
    },
    ListAttachedRolePolicies: (parameters: URLSearchParams) =>
      `<AttachedPolicies>${this.#role(parameters)
        .managed.map((arn) => `<member><PolicyArn>${arn}</PolicyArn></member>`)
        .join('')}</AttachedPolicies>`,
    SimulatePrincipalPolicy: (parameters: URLSearchParams) => {
      const role = Object.values(this.roles).find(({ arn }) => arn === parameters.get('PolicySourceArn'));
      const policies = Object.values(role?.inline ?? {}).map((policy) => rolePolicySchema.parse(policy));
      const context = Object.fromEntries(
        listOf(parameters, 'ContextEntries').map((name) => [
          parameters.get(`${name}.ContextKeyName`) ?? '',
          parameters.get(`${name}.ContextKeyValues.member.1`) ?? '',
        ]),
      );
      const resources = listOf(parameters, 'ResourceArns').map((name) => parameters.get(name) ?? '');
      const results = listOf(parameters, 'ActionNames').map((name) => {
        const action = parameters.get(name) ?? '';
        const decisionOn = (resource: string) => {
          const refusal = refusalOf({ arn: role?.arn ?? '', policies }, { action, resource, context });
          return this.decides(action)?.decision ?? (refusal === undefined ? 'allowed' : 'implicitDeny');
        };
        const each = resources.map((resource) => {
          const decided = { EvalResourceName: resource, EvalResourceDecision: decisionOn(resource) };
          return xml('member', decided);
        });
        const [first = ''] = resources;
        const missing = this.decides(action)?.missing;
        return `<member>${xml('EvalActionName', action)}${xml('EvalResourceName', first)}${xml('EvalDecision', decisionOn(first))}
          ${missing === undefined ? '' : xml('MissingContextValues', { member: missing })}
          ${each.length > 1 ? `<ResourceSpecificResults>${each.join('')}</ResourceSpecificResults>` : ''}</member>`;
      });
      return `<EvaluationResults>${results.join('')}</EvaluationResults><IsTruncated>false</IsTruncated>`;
    },
  };

  #role(parameters: URLSearchParams): LiveRole {
    const name = parameters.get('RoleName');
    const [logicalId = ''] = this.resources.find(([, type, id]) => type === 'AWS::IAM::Role' && id === name) ?? [];
    const role = this.roles[logicalId];
    if (role === undefined) throw new Error(`no role ${name}`);
    return role;
  }
}

/** Names of the elements of a list of the query protocol. */
function listOf(parameters: URLSearchParams, list: string): string[] {
  const names = [...parameters.keys()].map((key) => new RegExp(`^${list}\\.member\\.\\d+`).exec(key)?.[0]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

const bucketQueries = {
  policy: 'GetBucketPolicy',
  lifecycle: 'GetBucketLifecycleConfiguration',
  versioning: 'GetBucketVersioning',
  'object-lock': 'GetObjectLockConfiguration',
  replication: 'GetBucketReplication',
  publicAccessBlock: 'GetPublicAccessBlock',
  encryption: 'GetBucketEncryption',
};

/** Of every key: who has the private half is of no interest. */
const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .publicKey.export({ type: 'spki', format: 'der' })
  .toString('base64');

const some = z.optional(z.looseObject({}));
const bucketSchema = z.looseObject({
  LifecycleConfiguration: z.optional(
    z.looseObject({
      Rules: z.array(
        z.looseObject({
          Id: z.string(),
          Prefix: z.optional(z.string()),
          ExpirationInDays: z.optional(z.number()),
          ExpiredObjectDeleteMarker: z.optional(z.boolean()),
        }),
      ),
    }),
  ),
  VersioningConfiguration: some,
  ObjectLockConfiguration: some,
  ReplicationConfiguration: z.optional(
    z.looseObject({ Role: z.string(), Rules: z.array(z.looseObject({ Id: z.string() })) }),
  ),
  PublicAccessBlockConfiguration: some,
  BucketEncryption: z.optional(
    z.looseObject({
      ServerSideEncryptionConfiguration: z.array(
        z.looseObject({ ServerSideEncryptionByDefault: some, BucketKeyEnabled: z.optional(z.boolean()) }),
      ),
    }),
  ),
});
const policySchema = z.looseObject({ Statement: z.array(z.record(z.string(), z.unknown())) });

/** The same policy as AWS may write it: lists backwards, lists of one as their element, an account by its number. */
export function asAws(policy: Policy): Policy {
  const rewritten = JSON.stringify(policy, (_, value: unknown) => {
    if (Array.isArray(value))
      return value.length === 1 && typeof value[0] === 'string' ? value[0] : [...value].reverse();
    if (typeof value === 'string') return value.replace(/^arn:aws:iam::(\d{12}):root$/, '$1');
    return value;
  });
  const { Statement, ...rest } = JSON.parse(rewritten) as Policy;
  return {
    ...rest,
    Statement: [Statement].flat().map((statement) => {
      const { Principal } = statement as { Principal?: { AWS?: string } };
      return { ...statement, ...(Principal?.AWS === '*' && { Principal: '*' }) };
    }),
  };
}

/** What S3 answers about a bucket with these properties of a template. */
function bucketXml(properties: z.output<typeof bucketSchema>): Omit<LiveBucket, 'policy'> {
  const { LifecycleConfiguration, VersioningConfiguration, ObjectLockConfiguration, ReplicationConfiguration } =
    properties;
  const { PublicAccessBlockConfiguration, BucketEncryption } = properties;
  const rules = LifecycleConfiguration?.Rules.map(
    ({ Id, Prefix = '', ExpirationInDays, ExpiredObjectDeleteMarker, ...rest }) => ({
      ...{ ID: Id, Filter: { Prefix } },
      Expiration: ExpirationInDays === undefined ? { ExpiredObjectDeleteMarker } : { Days: ExpirationInDays },
      ...rest,
    }),
  );
  const copies = ReplicationConfiguration?.Rules.map(({ Id, ...rest }) => ({ ID: Id, ...rest }));
  const [encryption] = BucketEncryption?.ServerSideEncryptionConfiguration ?? [];
  const Rule = encryption && {
    ApplyServerSideEncryptionByDefault: encryption.ServerSideEncryptionByDefault,
    BucketKeyEnabled: encryption.BucketKeyEnabled ?? false,
  };
  const all = (list: readonly object[]) => list.map((rule) => xml('Rule', rule)).join('');
  const { Role } = ReplicationConfiguration ?? {};
  return {
    lifecycle: rules && `<LifecycleConfiguration>${all(rules)}</LifecycleConfiguration>`,
    versioning: VersioningConfiguration && xml('VersioningConfiguration', VersioningConfiguration),
    objectLock: ObjectLockConfiguration && xml('ObjectLockConfiguration', ObjectLockConfiguration),
    replication: copies && `<ReplicationConfiguration><Role>${Role}</Role>${all(copies)}</ReplicationConfiguration>`,
    publicAccessBlock:
      PublicAccessBlockConfiguration && xml('PublicAccessBlockConfiguration', PublicAccessBlockConfiguration),
    encryption: Rule && xml('ServerSideEncryptionConfiguration', { Rule }),
  };
}

function xml(name: string, value: unknown): string {
  if (value === undefined) return '';
  if (typeof value !== 'object' || value === null) return `<${name}>${escaped(String(value))}</${name}>`;
  return `<${name}>${Object.entries(value)
    .map(([member, inner]) => xml(member, inner))
    .join('')}</${name}>`;
}

export const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A refusal of a call, as its service writes it. */
export const accessDenied = (call: string) => failure(call, 'AccessDenied', 403);

/** An error that a service answers a call with. */
export function failure(call: string, code: string, status: number): Answer {
  const [service = ''] = call.split(':');
  if (service === 's3') return { status, body: `<Error><Code>${code}</Code><Message>no</Message></Error>` };
  if (/^(cloudwatch|kms|lambda|secretsmanager)$/.test(service))
    return { status, headers: { 'x-amzn-errortype': code }, body: JSON.stringify({ __type: code, message: 'no' }) };
  return {
    status,
    body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>no</Message></Error></ErrorResponse>`,
  };
}
