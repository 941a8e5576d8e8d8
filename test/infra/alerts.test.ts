import * as iam from 'aws-cdk-lib/aws-iam';
import { checkSolutions, observedStack } from './observability-setup';

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

test('the topic is encrypted with a customer key that rotates and goes with the stack', () => {
  const template = observedStack().template();
  const [key] = theOne(template.findResources('AWS::KMS::Key'));
  template.hasResourceProperties('AWS::SNS::Topic', { KmsMasterKeyId: { 'Fn::GetAtt': [key, 'Arn'] } });
  template.hasResource('AWS::KMS::Key', { DeletionPolicy: 'Delete', Properties: { EnableKeyRotation: true } });
});

test('the key admits the alarms of this account, and no other service', () => {
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

test('the topic refuses plain text, and lets the alarms of this account publish', () => {
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

test('every configured address is subscribed', () => {
  const template = observedStack({ emails: ['night@example.com', 'day@example.com'] }).template();
  template.resourceCountIs('AWS::SNS::Subscription', 2);
  for (const Endpoint of ['night@example.com', 'day@example.com']) {
    template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint });
  }
});

test('a role that may publish may do that and what the encryption asks for, nothing else', () => {
  const { stack, alerts, template } = observedStack();
  alerts.grantPublish(new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') }));
  const [topic] = theOne(template().findResources('AWS::SNS::Topic'));
  const [key] = theOne(template().findResources('AWS::KMS::Key'));
  const [, policy] = theOne(template().findResources('AWS::IAM::Policy'));
  expect(policy.Properties.PolicyDocument?.Statement).toEqual([
    { Effect: 'Allow', Action: 'sns:Publish', Resource: { Ref: topic } },
    { Effect: 'Allow', Action: ['kms:Decrypt', 'kms:GenerateDataKey'], Resource: { 'Fn::GetAtt': [key, 'Arn'] } },
  ]);
});

test('the longest name is cut where the sender of an e-mail has to end', () => {
  observedStack({ name: 'n'.repeat(128) })
    .template()
    .hasResourceProperties('AWS::SNS::Topic', {
      DisplayName: 'n'.repeat(100),
    });
});

test('cdk-nag finds nothing', () => {
  const { app, stack, alerts } = observedStack({ emails: ['night@example.com'] });
  alerts.grantPublish(new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') }));
  expect(() => checkSolutions(app)).not.toThrow();
});
