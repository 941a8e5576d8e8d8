import {
  authorize,
  type PolicyDocument,
  type PolicyStatement,
  type RequestContext,
} from '../../../../local/aws/iam/authorize';

const role = 'arn:aws:iam::111122223333:role/collector';

function policy(...statements: readonly object[]): PolicyDocument {
  return { Version: '2012-10-17', Statement: statements as readonly PolicyStatement[] };
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
  return authorize({
    identityPolicies: options.identity === undefined ? [] : [policy(...options.identity)],
    resourcePolicy: options.resource === undefined ? undefined : policy(...options.resource),
    principalArn: role,
    action: options.action ?? 's3:PutObject',
    resource: options.on ?? 'arn:aws:s3:::archive/logs/a',
    context: options.context ?? {},
  });
}

const allow = { Effect: 'Allow', Action: 's3:PutObject', Resource: 'arn:aws:s3:::archive/logs/*' };

describe('authorize', () => {
  test('denies what no policy mentions, and says so as the service does', () => {
    expect(decide()).toEqual({
      allowed: false,
      reason: 'because no identity-based policy allows the s3:PutObject action',
    });
  });

  test('allows by an identity policy or by a resource policy', () => {
    expect(decide({ identity: [allow] }).allowed).toBe(true);
    expect(decide({ resource: [{ ...allow, Principal: { AWS: role } }] }).allowed).toBe(true);
    expect(decide({ resource: [{ ...allow, Principal: '*' }] }).allowed).toBe(true);
  });

  test('lets an explicit deny win over every allow, wherever it stands', () => {
    const deny = { Effect: 'Deny', Action: 's3:*', Resource: '*' };
    expect(decide({ identity: [allow, deny] })).toEqual({
      allowed: false,
      reason: 'with an explicit deny in an identity-based policy',
    });
    expect(decide({ identity: [allow], resource: [{ ...deny, Principal: '*' }] })).toEqual({
      allowed: false,
      reason: 'with an explicit deny in a resource-based policy',
    });
  });

  test.each([
    ['an action with a wildcard', { Action: 's3:Put*' }, true],
    ['an action with a question mark', { Action: 's3:PutObjec?' }, true],
    ['an action in another case', { Action: 'S3:putobject' }, true],
    ['one of several actions', { Action: ['s3:GetObject', 's3:PutObject'] }, true],
    ['another action', { Action: 's3:GetObject' }, false],
    ['an action that only begins alike', { Action: 's3:PutObj' }, false],
    ['a resource in another case', { Resource: 'arn:aws:s3:::archive/LOGS/*' }, false],
    ['a resource that ends elsewhere', { Resource: 'arn:aws:s3:::archive/logs/?b' }, false],
    ['a wildcard that reaches over slashes', { Resource: 'arn:aws:s3:::*/a' }, true],
    ['all actions but this one', { Action: undefined, NotAction: 's3:PutObject' }, false],
    ['all actions but another', { Action: undefined, NotAction: 's3:GetObject' }, true],
    ['all resources but this one', { Resource: undefined, NotResource: 'arn:aws:s3:::archive/logs/*' }, false],
    ['all resources but another', { Resource: undefined, NotResource: 'arn:aws:s3:::archive/runs/*' }, true],
  ])('matches %s', (_name, change, allowed) => {
    const statement = Object.fromEntries(Object.entries({ ...allow, ...change }).filter(([, v]) => v !== undefined));
    expect(decide({ identity: [statement] }).allowed).toBe(allowed);
  });

  test.each([
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

  test.each<[string, Record<string, unknown>, RequestContext, boolean]>([
    ['StringEquals', { StringEquals: { k: ['a', 'b'] } }, { k: 'b' }, true],
    ['StringEquals of another value', { StringEquals: { k: 'a' } }, { k: 'A' }, false],
    ['StringEquals of an absent key', { StringEquals: { k: 'a' } }, {}, false],
    ['StringEqualsIfExists of an absent key', { StringEqualsIfExists: { k: 'a' } }, {}, true],
    ['StringEqualsIfExists of another value', { StringEqualsIfExists: { k: 'a' } }, { k: 'b' }, false],
    ['StringEqualsIgnoreCase', { StringEqualsIgnoreCase: { k: 'a' } }, { k: 'A' }, true],
    ['StringNotEquals of an absent key', { StringNotEquals: { k: 'a' } }, {}, true],
    ['StringNotEquals with one value alike', { StringNotEquals: { k: ['a', 'b'] } }, { k: 'b' }, false],
    ['StringLike', { StringLike: { k: 'runs/*' } }, { k: 'runs/date=1' }, true],
    ['StringLike of another prefix', { StringLike: { k: 'runs/*' } }, { k: 'logs/' }, false],
    ['StringNotLike', { StringNotLike: { k: 'runs/*' } }, { k: 'logs/' }, true],
    ['keys in another case', { StringEquals: { 'S3:Prefix': 'a' } }, { 's3:prefix': 'a' }, true],
    ['several keys, all of which must hold', { StringEquals: { k: 'a', l: 'b' } }, { k: 'a', l: 'c' }, false],
    ['several operators, all of which must hold', { StringEquals: { k: 'a' }, Null: { l: 'true' } }, { k: 'a' }, true],
    ['Null true of an absent key', { Null: { k: 'true' } }, {}, true],
    ['Null true of a present key', { Null: { k: true } }, { k: '*' }, false],
    ['Null false of an absent key', { Null: { k: 'false' } }, {}, false],
    ['Null false of a present key', { Null: { k: false } }, { k: '*' }, true],
    ['Bool', { Bool: { 'aws:SecureTransport': 'false' } }, { 'aws:SecureTransport': 'true' }, false],
    ['Bool written as a boolean', { Bool: { k: true } }, { k: 'true' }, true],
    ['NumericLessThan', { NumericLessThan: { k: 1.2 } }, { k: '1.3' }, false],
    ['NumericLessThanEquals', { NumericLessThanEquals: { k: '10' } }, { k: '9' }, true],
    ['NumericGreaterThan of no number', { NumericGreaterThan: { k: '1' } }, { k: 'x' }, false],
    ['NumericNotEquals', { NumericNotEquals: { k: '1' } }, { k: '1.0' }, false],
    ['DateGreaterThan', { DateGreaterThan: { k: '2026-01-01T00:00:00Z' } }, { k: '2026-11-20T00:00:00Z' }, true],
    ['ArnLike', { ArnLike: { k: 'arn:aws:iam::*:role/c*' } }, { k: role }, true],
    ['ArnEquals, which knows wildcards too', { ArnEquals: { k: 'arn:aws:iam::*:role/c*' } }, { k: role }, true],
    ['ArnLike with too few parts', { ArnLike: { k: 'arn:aws:iam:*' } }, { k: role }, false],
    ['ArnLike across a colon', { ArnLike: { k: 'arn:*:role/collector:::' } }, { k: role }, false],
    ['ArnNotEquals', { ArnNotEquals: { k: role } }, { k: role }, false],
    ['ForAnyValue with one alike', { 'ForAnyValue:StringEquals': { k: 'a' } }, { k: ['a', 'z'] }, true],
    ['ForAnyValue with none', { 'ForAnyValue:StringEquals': { k: 'a' } }, { k: [] }, false],
    ['ForAnyValue with a negation and none', { 'ForAnyValue:StringNotEquals': { k: 'a' } }, {}, false],
    ['ForAllValues with one unlike', { 'ForAllValues:StringEquals': { k: 'a' } }, { k: ['a', 'z'] }, false],
    ['ForAllValues of an absent key', { 'ForAllValues:StringEquals': { k: 'a' } }, {}, true],
  ])('evaluates %s', (_name, Condition, context, allowed) => {
    expect(decide({ identity: [{ ...allow, Condition }], context }).allowed).toBe(allowed);
  });

  test.each([
    ['an operator', { Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } } }, /condition operator "IpAddress"/],
    ['a set prefix', { Condition: { 'ForSome:StringEquals': { k: 'a' } } }, /ForSome:StringEquals/],
    ['an element', { NotPrincipal: '*' }, /element "NotPrincipal"/],
    ['an effect', { Effect: 'Maybe' }, /Effect "Maybe"/],
    ['an intrinsic that was not resolved', { Resource: [{ Ref: 'Bucket' }] }, /Resource \{"Ref":"Bucket"\}/],
    ['a policy variable', { Resource: `arn:aws:s3:::archive/$\{aws:username}` }, /policy variable/],
    ['a principal in a role’s policy', { Principal: '*' }, /Principal/],
    ['a statement without an action', { Action: undefined }, /Action/],
    ['a condition without values', { Condition: { StringEquals: { k: [] } } }, /values of k/],
  ])('refuses, and never allows, %s it does not know', (_name, change, message) => {
    const statement = Object.fromEntries(Object.entries({ ...allow, ...change }).filter(([, v]) => v !== undefined));
    expect(() => decide({ identity: [allow, statement] })).toThrow(message);
  });

  test('refuses a pattern among a bucket policy’s principals, as IAM does', () => {
    const statement = { ...allow, Principal: { AWS: 'arn:aws:iam::111122223333:role/*' } };
    expect(() => decide({ resource: [statement] })).toThrow(/role\/\*/);
    expect(() => decide({ resource: [allow] })).toThrow(/Principal/);
  });

  test('takes no longer for a pattern made to be slow', () => {
    const Resource = `${'*a'.repeat(500)}b`;
    expect(decide({ identity: [{ ...allow, Resource }], on: 'a'.repeat(5000) }).allowed).toBe(false);
  });
});
