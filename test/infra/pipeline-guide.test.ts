import { configurations, templateOf } from './example-stack';
import { pipelineGuide } from './guides';

/** What the guide calls the resources of a type that CloudFormation creates. */
const words: Readonly<Record<string, string>> = {
  'AWS::CloudWatch::Alarm': 'alarms',
  'AWS::CloudWatch::Dashboard': 'a dashboard',
  'AWS::Events::Rule': 'a rule',
  'AWS::IAM::Policy': 'their policies',
  'AWS::IAM::Role': 'roles',
  'AWS::KMS::Alias': 'aliases',
  'AWS::KMS::Key': 'keys',
  'AWS::Lambda::EventInvokeConfig': 'what becomes of their events',
  'AWS::Lambda::Function': 'functions',
  'AWS::Lambda::Permission': 'permissions to invoke them',
  'AWS::Logs::LogGroup': 'log groups',
  'AWS::S3::Bucket': 'buckets',
  'AWS::S3::BucketPolicy': 'policies of buckets',
  'AWS::SNS::Subscription': 'subscriptions',
  'AWS::SNS::Topic': 'topics',
  'AWS::SNS::TopicPolicy': 'policies of topics',
  'AWS::SQS::Queue': 'queues',
  'AWS::SQS::QueuePolicy': 'policies of queues',
  'AWS::Scheduler::Schedule': 'schedules',
  'AWS::SecretsManager::Secret': 'a secret',
  'AWS::StepFunctions::StateMachine': 'a state machine',
};

const [paragraph = ''] = /- \*\*What CloudFormation itself may do\*\*[\s\S]*?\n- \*\*/.exec(pipelineGuide) ?? [];
const guide = paragraph.replace(/\s+/g, ' ');
const resources = configurations.flatMap(([, changes]) => Object.values(templateOf(changes).Resources));

describe('the guide for pipelines lists what CloudFormation may do:', () => {
  it('every kind of resource that some configuration has, and no other', () => {
    const types = [...new Set(resources.map(({ Type }) => Type))].sort();
    expect(types).toEqual(Object.keys(words).sort());
    expect(types.filter((type) => !guide.includes(words[type] ?? ''))).toEqual([]);
  });

  it('to pass roles to every service that assumes one, and what a network is described by', () => {
    const trusts = resources.map(({ Properties }) => JSON.stringify(Properties.AssumeRolePolicyDocument ?? ''));
    const services = trusts.flatMap((trust) => [...trust.matchAll(/"Service":"([^"]+)"/g)].map(([, name]) => name));
    expect(guide).toContain('iam:PassRole');
    expect([...guide.matchAll(/`(\w+\.amazonaws\.com)`/g)].map(([, name]) => name).sort()).toEqual(
      [...new Set(services)].sort(),
    );
    for (const right of ['ec2:DescribeSubnets', 'ec2:DescribeSecurityGroups', 'ec2:DescribeVpcs'])
      expect(guide).toContain(right);
  });
});
