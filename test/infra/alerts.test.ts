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
    const template = observedStack({ emails: ['night@example.com', 'day@example.com'] }).template();
    template.resourceCountIs('AWS::SNS::Subscription', 2);
    for (const Endpoint of ['night@example.com', 'day@example.com']) {
      template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint });
    }
  });

  it('let a role publish and use the key, and nothing else', () => {
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

  it('shorten a long name to the longest name of an e-mail sender', () => {
    observedStack({ name: 'n'.repeat(128) })
      .template()
      .hasResourceProperties('AWS::SNS::Topic', {
        DisplayName: 'n'.repeat(100),
      });
  });

  it('pass cdk-nag', () => {
    const { app, stack, alerts } = observedStack({ emails: ['night@example.com'] });
    alerts.grantPublish(new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') }));
    expect(() => checkSolutions(app)).not.toThrow();
  });
});
