import { Annotations, Match } from 'aws-cdk-lib/assertions';
import * as iam from 'aws-cdk-lib/aws-iam';
import {
  allowedTo,
  audited,
  exampleTemplate,
  kmsKeyArn,
  resourcesOf,
  type TemplateJson,
  textOf,
  topicArn,
} from './example-stack';
import { checkSolutions, observedStack, type Setup } from './observability-setup';

const thisAccountsAlarms = {
  StringEquals: { 'aws:SourceAccount': '111111111111' },
  ArnLike: { 'aws:SourceArn': 'arn:aws:cloudwatch:eu-central-1:111111111111:alarm:*' },
};

interface Resource {
  Properties: Record<string, { Statement: Record<string, unknown>[] }>;
}

function theOne(resources: Record<string, unknown>): [string, Resource] {
  const entries = Object.entries(resources);
  expect(entries).toHaveLength(1);
  return entries[0] as [string, Resource];
}

function warningsOf(setup: Setup): unknown[] {
  const found = Annotations.fromStack(observedStack(setup).stack).findWarning('*', Match.anyValue());
  return found.map(({ entry }) => entry.data);
}

/** The lists of statements that a synthesis prints. Actions are sorted, as in a template. */
function printed(setup: Setup): unknown[] {
  const found = Annotations.fromStack(observedStack(setup).stack).findInfo('*', Match.anyValue());
  const lists = found.flatMap(({ entry }) => [...String(entry.data).matchAll(/^\[$.*?^\]$/gms)]);
  const sorted = (_name: string, value: unknown) =>
    Array.isArray(value) && value.every((part) => typeof part === 'string') ? [...value].sort() : value;
  return lists.map(([list]) => JSON.parse(list, sorted));
}

describe('alerts', () => {
  it('encrypt the topic with a customer key that rotates and is deleted with the stack', () => {
    const template = observedStack().template();
    const [key] = theOne(template.findResources('AWS::KMS::Key'));
    template.hasResourceProperties('AWS::SNS::Topic', { KmsMasterKeyId: { 'Fn::GetAtt': [key, 'Arn'] } });
    template.hasResource('AWS::KMS::Key', { DeletionPolicy: 'Delete', Properties: { EnableKeyRotation: true } });
  });

  it('let the alarms of this account, and no other service, use the key', () => {
    const [, key] = theOne(observedStack().template().findResources('AWS::KMS::Key'));
    const statements = key.Properties.KeyPolicy?.Statement ?? [];
    expect(statements.filter(({ Principal }) => Object.keys(Principal as object).includes('Service'))).toEqual([
      {
        Sid: 'AlarmsEncrypt',
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        Resource: '*',
        Condition: thisAccountsAlarms,
      },
    ]);
    expect(statements).toHaveLength(2);
  });

  it('refuse plain http, and let the alarms of this account publish', () => {
    const [, policy] = theOne(observedStack().template().findResources('AWS::SNS::TopicPolicy'));
    expect(policy.Properties.PolicyDocument?.Statement).toEqual([
      expect.objectContaining({
        Effect: 'Deny',
        Principal: '*',
        Action: 'sns:Publish',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
      expect.objectContaining({
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
        Condition: thisAccountsAlarms,
      }),
    ]);
  });

  it('subscribe every configured address', () => {
    const template = observedStack({ alerts: { emails: ['night@example.com', 'day@example.com'] } }).template();
    template.resourceCountIs('AWS::SNS::Subscription', 2);
    for (const Endpoint of ['night@example.com', 'day@example.com'])
      template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint });
  });

  it('let a role publish and use the key, and nothing else', () => {
    const { stack, alerts, template } = observedStack();
    alerts.grantPublish(new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') }));
    const [topic] = theOne(template().findResources('AWS::SNS::Topic'));
    const [key] = theOne(template().findResources('AWS::KMS::Key'));
    const all = Object.entries(template().findResources('AWS::IAM::Policy')) as [string, Resource][];
    const policy = all.find(([id]) => id.startsWith('RoleDefaultPolicy'))?.[1];
    expect(policy?.Properties.PolicyDocument?.Statement).toEqual([
      { Effect: 'Allow', Action: 'sns:Publish', Resource: { Ref: topic } },
      { Effect: 'Allow', Action: ['kms:Decrypt', 'kms:GenerateDataKey'], Resource: { 'Fn::GetAtt': [key, 'Arn'] } },
    ]);
  });

  it('shorten a long name to the longest name of an e-mail sender', () => {
    observedStack({ name: 'n'.repeat(128) })
      .template()
      .hasResourceProperties('AWS::SNS::Topic', {
        DisplayName: 'n'.repeat(100),
      });
  });

  it('name the key by an alias', () => {
    observedStack().template().hasResourceProperties('AWS::KMS::Alias', { AliasName: 'alias/observed-alerts' });
  });

  it('warn if nobody gets them', () => {
    expect(warningsOf({ alerts: { emails: [] } })).toEqual([expect.stringContaining('Nobody gets alarms')]);
    expect(warningsOf({})).toEqual([]);
    expect(warningsOf({ alerts: { emails: [], topicArn } })).toEqual([]);
  });

  it('are two topics if there are two groups, and the mails of the audit inform', () => {
    const groups = { page: { emails: ['night@example.com'] }, inform: { emails: ['day@example.com'] } };
    const json = exampleTemplate({ ...audited, alerts: groups }).toJSON() as TemplateJson;
    const topics = resourcesOf(json, 'AWS::SNS::Topic').map(([id]) => textOf({ Ref: id }));
    expect(topics.sort()).toEqual(['<AlertsTopic>', '<InformTopic>']);
    const subscribed = resourcesOf(json, 'AWS::SNS::Subscription').map(
      ([, { Properties }]) => `${Properties.Endpoint} ${textOf(Properties.TopicArn)}`,
    );
    expect(subscribed.sort()).toEqual(['day@example.com <InformTopic>', 'night@example.com <AlertsTopic>']);
    const publishing = (role: string) => allowedTo(json, role).filter((line) => line.startsWith('sns:'));
    expect(publishing('AuditRole')).toEqual(['sns:Publish <InformTopic>']);
    expect(publishing('FailureMessagesRole')).toEqual(['sns:Publish <AlertsTopic>']);
    expect((json as { Outputs?: object }).Outputs).toMatchObject({ InformTopic: {}, AlertTopic: {} });
  });

  it('use an existing topic in place of one of their own', () => {
    const template = observedStack({ alerts: { emails: ['night@example.com'], topicArn } }).template();
    for (const type of ['AWS::SNS::Topic', 'AWS::SNS::TopicPolicy', 'AWS::KMS::Key', 'AWS::KMS::Alias'])
      template.resourceCountIs(type, 0);
    template.hasResourceProperties('AWS::SNS::Subscription', { TopicArn: topicArn, Endpoint: 'night@example.com' });
    template.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [topicArn], OKActions: [topicArn] });
  });

  it('print the statements that the policies of an existing topic and its key need: those of an own topic', () => {
    for (const shards of [1, 4]) {
      const own = observedStack({ shards }).template();
      const ofServices = (statements: Record<string, unknown>[] = []) =>
        statements.filter(({ Principal }) => typeof Principal === 'object' && 'Service' in (Principal as object));
      const [, topicPolicy] = theOne(own.findResources('AWS::SNS::TopicPolicy'));
      const [, key] = theOne(own.findResources('AWS::KMS::Key'));
      const inTopic = ofServices(topicPolicy.Properties.PolicyDocument?.Statement);
      expect(printed({ shards, alerts: { topicArn, kmsKeyArn } })).toEqual([
        inTopic.map((statement) => ({ ...statement, Resource: topicArn })),
        ofServices(key.Properties.KeyPolicy?.Statement),
      ]);
      expect(printed({ shards, alerts: { topicArn } })).toHaveLength(1);
    }
  });

  it('pass cdk-nag', () => {
    const { app, stack, alerts } = observedStack();
    alerts.grantPublish(new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') }));
    expect(() => checkSolutions(app)).not.toThrow();
  });
});
