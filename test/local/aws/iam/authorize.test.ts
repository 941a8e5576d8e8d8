import * as z from 'zod';
import { type RequestContext, refusalOf } from '../../../../local/aws/iam/authorize';
import { resourcePolicySchema, rolePolicySchema } from '../../../../local/aws/iam/policy-document';

const role = 'arn:aws:iam::111122223333:role/collector';

function read<Schema extends z.ZodType>(schema: Schema, Statement: readonly object[]): z.output<Schema> {
  const parsed = schema.safeParse({ Version: '2012-10-17', Statement });
  if (parsed.success) return parsed.data;
  throw new Error(z.prettifyError(parsed.error));
}

function decide(
  options: {
    identity?: readonly object[];
    resource?: readonly object[];
    action?: string;
    on?: string;
    context?: RequestContext;
  } = {},
) {
  const policies = options.identity === undefined ? [] : [read(rolePolicySchema, options.identity)];
  const reason = refusalOf(
    { arn: role, policies },
    {
      resourcePolicy: options.resource === undefined ? undefined : read(resourcePolicySchema, options.resource),
      action: options.action ?? 's3:PutObject',
      resource: options.on ?? 'arn:aws:s3:::archive/logs/a',
      context: options.context ?? {},
    },
  );
  return { allowed: reason === undefined, reason };
}

const allow = { Effect: 'Allow', Action: 's3:PutObject', Resource: 'arn:aws:s3:::archive/logs/*' };

describe('refusalOf', () => {
  it('denies what no policy mentions, and says so as the service does', () => {
    expect(decide()).toEqual({
      allowed: false,
      reason: `User: ${role} is not authorized to perform: s3:PutObject on resource: arn:aws:s3:::archive/logs/a because no identity-based policy allows the s3:PutObject action`,
    });
  });

  it('allows by an identity policy or by a resource policy', () => {
    expect(decide({ identity: [allow] }).allowed).toBe(true);
    expect(decide({ resource: [{ ...allow, Principal: { AWS: role } }] }).allowed).toBe(true);
    expect(decide({ resource: [{ ...allow, Principal: '*' }] }).allowed).toBe(true);
  });

  it('lets an explicit deny win over every allow, wherever it stands', () => {
    const deny = { Effect: 'Deny', Action: 's3:*', Resource: '*' };
    expect(decide({ identity: [allow, deny] })).toEqual({
      allowed: false,
      reason: expect.stringMatching(/with an explicit deny in an identity-based policy$/),
    });
    expect(decide({ identity: [allow], resource: [{ ...deny, Principal: '*' }] })).toEqual({
      allowed: false,
      reason: expect.stringMatching(/with an explicit deny in a resource-based policy$/),
    });
  });

  it.each([
    ['an action with a wildcard', { Action: 's3:Put*' }, true],
    ['one of several actions', { Action: ['s3:GetObject', 's3:PutObject'] }, true],
    ['an action that only begins alike', { Action: 's3:PutObj' }, false],
    ['a resource in another case', { Resource: 'arn:aws:s3:::archive/LOGS/*' }, false],
    ['a resource that ends elsewhere', { Resource: 'arn:aws:s3:::archive/logs/?b' }, false],
    ['a wildcard that reaches over slashes', { Resource: 'arn:aws:s3:::*/a' }, true],
  ])('matches %s', (_name, change, allowed) => {
    expect(decide({ identity: [{ ...allow, ...change }] }).allowed).toBe(allowed);
  });

  it.each([
    ['the role itself', { AWS: role }, true, true],
    ['another role', { AWS: 'arn:aws:iam::111122223333:role/other' }, false, false],
    ['anyone', { AWS: '*' }, true, true],
    ['a service', { Service: 's3.amazonaws.com' }, false, false],
    // To allow an account leaves the decision to the account's own policies; to deny it reaches everyone in it.
    ['the account', { AWS: 'arn:aws:iam::111122223333:root' }, false, true],
    ['the account by its number', { AWS: ['111122223333'] }, false, true],
    ['another account', { AWS: '444455556666' }, false, false],
  ])('knows a principal that is %s', (_name, Principal, allows, denies) => {
    expect(decide({ resource: [{ ...allow, Principal }] }).allowed).toBe(allows);
    const deny = { ...allow, Effect: 'Deny', Principal };
    expect(decide({ identity: [allow], resource: [deny] }).allowed).toBe(!denies);
  });

  it.each<[string, Record<string, unknown>, RequestContext, boolean]>([
    ['StringEquals', { StringEquals: { k: ['a', 'b'] } }, { k: 'b' }, true],
    ['StringEquals of another value', { StringEquals: { k: 'a' } }, { k: 'A' }, false],
    ['StringNotEquals', { StringNotEquals: { k: ['a', 'b'] } }, { k: 'b' }, false],
    ['StringNotEquals of another value', { StringNotEquals: { k: ['a', 'b'] } }, { k: 'c' }, true],
    ['StringNotEquals of an absent key', { StringNotEquals: { k: 'a' } }, {}, true],
    ['ArnNotEquals of an absent key', { ArnNotEquals: { k: role } }, {}, true],
    ['ArnNotEquals with one value alike', { ArnNotEquals: { k: [`${role}-2`, role] } }, { k: role }, false],
    ['StringLike', { StringLike: { k: 'runs/*' } }, { k: 'runs/date=1' }, true],
    ['keys in another case', { StringEquals: { 'S3:Prefix': 'a' } }, { 's3:prefix': 'a' }, true],
    ['several keys, all of which must hold', { StringEquals: { k: 'a', l: 'b' } }, { k: 'a', l: 'c' }, false],
    ['several operators, all of which must hold', { StringEquals: { k: 'a' }, Null: { l: 'true' } }, { k: 'a' }, true],
    ['Null true of an absent key', { Null: { k: 'true' } }, {}, true],
    ['Null true of a present key', { Null: { k: true } }, { k: '*' }, false],
    ['Null false of an absent key', { Null: { k: 'false' } }, {}, false],
    ['Null false of a present key', { Null: { k: false } }, { k: '*' }, true],
    ['Bool', { Bool: { 'aws:SecureTransport': 'false' } }, { 'aws:SecureTransport': 'true' }, false],
    ['ArnLike', { ArnLike: { k: 'arn:aws:iam::*:role/c*' } }, { k: role }, true],
    ['ArnLike with too few parts', { ArnLike: { k: 'arn:aws:iam:*' } }, { k: role }, false],
    ['ArnLike across a colon', { ArnLike: { k: 'arn:*:role/collector:::' } }, { k: role }, false],
    ['ArnNotEquals', { ArnNotEquals: { k: role } }, { k: role }, false],
  ])('evaluates %s', (_name, Condition, context, allowed) => {
    expect(decide({ identity: [{ ...allow, Condition }], context }).allowed).toBe(allowed);
  });

  it.each([
    ['an operator', { Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } } }, /"IpAddress"/],
    ['an IfExists', { Condition: { StringEqualsIfExists: { k: 'a' } } }, /StringEqualsIfExists/],
    ['an exception of actions', { Action: undefined, NotAction: 's3:GetObject' }, /"NotAction"/],
    ['an exception of resources', { Resource: undefined, NotResource: '*' }, /"NotResource"/],
    ['an intrinsic that was not resolved', { Resource: [{ Ref: 'Bucket' }] }, /Resource\[0\]/],
    ['a policy variable', { Resource: `arn:aws:s3:::archive/$\{aws:username}` }, /policy variable/],
    ['a principal in a role’s policy', { Principal: '*' }, /Principal/],
    ['a statement without an action', { Action: undefined }, /Action/],
    ['a condition without values', { Condition: { StringEquals: { k: [] } } }, /Condition\.StringEquals\.k/],
  ])('refuses, and never allows, %s it does not know', (_name, change, message) => {
    const statement = Object.fromEntries(Object.entries({ ...allow, ...change }).filter(([, v]) => v !== undefined));
    expect(() => decide({ identity: [allow, statement] })).toThrow(message);
  });

  it('refuses a pattern among a bucket policy’s principals, as IAM does', () => {
    const statement = { ...allow, Principal: { AWS: 'arn:aws:iam::111122223333:role/*' } };
    expect(() => decide({ resource: [statement] })).toThrow(/role\/\*/);
    expect(() => decide({ resource: [allow] })).toThrow(/Principal/);
  });
});
