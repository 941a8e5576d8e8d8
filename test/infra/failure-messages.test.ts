import { Match } from 'aws-cdk-lib/assertions';
import {
  allowedTo,
  audited,
  everything,
  exampleTemplate,
  resourceOf,
  resourcesOf,
  templateOf,
  textOf,
} from './example-stack';

const json = templateOf();
const template = exampleTemplate({ shards: 4 });

describe('the function that reports failures', () => {
  it('may publish, and keep what it could not report, and nothing else', () => {
    expect(allowedTo(json, 'FailureMessagesRole')).toEqual([
      'kms:Decrypt <AlertsKey.Arn>',
      'kms:GenerateDataKey <AlertsKey.Arn>',
      'logs:CreateLogStream <FailureMessagesLogs.Arn>',
      'logs:PutLogEvents <FailureMessagesLogs.Arn>',
      'sns:Publish <AlertsTopic>',
      'sqs:SendMessage <DeadLetters.Arn>',
    ]);
  });

  it('is in the network of the collector: some accounts allow no function outside of one', () => {
    const vpcs = resourcesOf(templateOf({ network: everything.network, ...audited }), 'AWS::Lambda::Function').map(
      ([, { Properties }]) => Properties.VpcConfig,
    );
    expect(vpcs).toHaveLength(3);
    for (const vpc of vpcs) expect(vpc).toMatchObject({ SubnetIds: everything.network.subnetIds });
    expect(resourceOf(json, 'AWS::Lambda::Function', 'FailureMessages').Properties).not.toHaveProperty('VpcConfig');
  });

  it('sends incomplete runs to the group of their alarm, and everything else to those who are woken up', () => {
    const groups = { page: { emails: ['night@example.com'] }, inform: { emails: ['day@example.com'] } };
    const topicsOf = (alerts: object) => {
      const { Properties } = resourceOf(templateOf({ alerts }), 'AWS::Lambda::Function', 'FailureMessages');
      const { Variables } = Properties.Environment as { Variables: Record<string, unknown> };
      return [textOf(Variables.TOPIC_ARN), textOf(Variables.RUN_TOPIC_ARN)];
    };
    expect(topicsOf(groups)).toEqual(['<AlertsTopic>', '<AlertsTopic>']);
    expect(topicsOf({ ...groups, pageFrom: { missingPercent: 5 } })).toEqual(['<AlertsTopic>', '<InformTopic>']);
  });
});

describe('a failed execution', () => {
  it('is handed over as EventBridge has it, without a text to insert it into, and kept if that fails', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      State: 'ENABLED',
      EventPattern: {
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
        detail: { stateMachineArn: [Match.anyValue()], status: ['FAILED', 'TIMED_OUT'] },
      },
      Targets: [
        {
          Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^FailureMessagesFunction'), 'Arn'] },
          DeadLetterConfig: { Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^DeadLetters'), 'Arn'] } },
          InputTransformer: Match.absent(),
          Input: Match.absent(),
          InputPath: Match.absent(),
        },
      ],
    });
  });
});

describe('one run at a time', () => {
  const reserved = (changes: Record<string, unknown>) =>
    resourceOf(templateOf(changes), 'AWS::Lambda::Function', 'Collector').Properties.ReservedConcurrentExecutions;

  it('reserves as many invocations as a run has, and none by default', () => {
    expect(reserved({})).toBeUndefined();
    expect(reserved({ limits: { oneRunAtATime: true } })).toBe(1);
    expect(reserved({ shards: 4, limits: { oneRunAtATime: true } })).toBe(4);
    expect(reserved({ shards: 90, limits: { oneRunAtATime: true } })).toBe(40);
  });
});
