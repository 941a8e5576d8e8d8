import type { CollectorConfig } from '../../infra/config/config';
import {
  allowedTo,
  audited,
  exampleTemplate,
  kmsKeyArn,
  resourceOf,
  resourcesOf,
  type Statement,
  statementsOf,
  templateOf,
  textOf,
  toldAtSynth,
  topicArn,
} from './example-stack';

const deployTo = { account: '111111111111', region: 'eu-central-1' };
/** A stack in one account and region, whose ARNs are known. */
const withAlerts = (alerts: Partial<CollectorConfig['alerts']>) => ({ deployTo, alerts });
const own = templateOf(withAlerts({ page: { emails: ['night@example.com'] } }));

/** Statements with the partition in place of its reference. */
function plain(statements: readonly Statement[]): Statement[] {
  return JSON.parse(JSON.stringify(statements), (_name, value) =>
    value?.['Fn::Join'] === undefined ? value : textOf(value).replace('<AWS::Partition>', 'aws'),
  );
}

const ofTopic = plain(statementsOf(resourceOf(own, 'AWS::SNS::TopicPolicy')));
const ofKey = plain((resourceOf(own, 'AWS::KMS::Key').Properties.KeyPolicy as { Statement: Statement[] }).Statement);

/** The lists of statements that a synthesis prints. Actions are sorted, as in a template. */
function printed(alerts: Partial<CollectorConfig['alerts']>): unknown[] {
  const lists = toldAtSynth(withAlerts(alerts), /policy of the topic/).flatMap((text) => [
    ...text.matchAll(/^\[$.*?^\]$/gms),
  ]);
  const sorted = (_name: string, value: unknown) =>
    Array.isArray(value) && value.every((part) => typeof part === 'string') ? [...value].sort() : value;
  return lists.map(([list]) => JSON.parse(list, sorted));
}

describe('alerts', () => {
  it('encrypt the topic with a customer key that rotates, has an alias, and is deleted with the stack', () => {
    const key = resourceOf(own, 'AWS::KMS::Key');
    expect(key).toMatchObject({ DeletionPolicy: 'Delete', Properties: { EnableKeyRotation: true } });
    expect(textOf(resourceOf(own, 'AWS::SNS::Topic').Properties.KmsMasterKeyId)).toBe('<AlertsKey.Arn>');
    expect(resourceOf(own, 'AWS::KMS::Alias').Properties.AliasName).toBe('alias/cluster-log-collector-alerts');
  });

  it("subscribe every configured address, by the stack's name, shortened to the longest name of a sender", () => {
    const emails = ['night@example.com', 'day@example.com'];
    const json = templateOf({ name: 'n'.repeat(128), alerts: { page: { emails } } });
    const subscribed = resourcesOf(json, 'AWS::SNS::Subscription').map(([, { Properties }]) => Properties);
    expect(subscribed).toMatchObject(emails.map((Endpoint) => ({ Protocol: 'email', Endpoint })));
    expect(resourceOf(json, 'AWS::SNS::Topic').Properties.DisplayName).toBe('n'.repeat(100));
  });

  it('warn if nobody gets them', () => {
    const warnings = (alerts: Partial<CollectorConfig['alerts']>) =>
      toldAtSynth(withAlerts(alerts), /Nobody gets alarms/);
    expect(warnings({})).toHaveLength(1);
    expect(warnings({ page: { emails: ['night@example.com'] } })).toEqual([]);
    expect(warnings({ page: { emails: [], topicArn } })).toEqual([]);
  });

  it('are two topics if there are two groups, and the mails of the audit inform', () => {
    const groups = { page: { emails: ['night@example.com'] }, inform: { emails: ['day@example.com'] } };
    const json = templateOf({ ...audited, alerts: groups });
    const topics = resourcesOf(json, 'AWS::SNS::Topic').map(([id]) => textOf({ Ref: id }));
    expect(topics.sort()).toEqual(['<AlertsTopic>', '<InformTopic>']);
    const subscribed = resourcesOf(json, 'AWS::SNS::Subscription').map(
      ([, { Properties }]) => `${Properties.Endpoint} ${textOf(Properties.TopicArn)}`,
    );
    expect(subscribed.sort()).toEqual(['day@example.com <InformTopic>', 'night@example.com <AlertsTopic>']);
    const publishing = (role: string) => allowedTo(json, role).filter((line) => line.startsWith('sns:'));
    // A mail about damage goes to both.
    expect(publishing('AuditRole')).toEqual(['sns:Publish <AlertsTopic>', 'sns:Publish <InformTopic>']);
    expect(publishing('FailureMessagesRole')).toEqual(['sns:Publish <AlertsTopic>']);
    expect(json.Outputs).toMatchObject({ InformTopic: {}, AlertTopic: {} });
  });

  it('use an existing topic in place of one of their own', () => {
    const template = exampleTemplate({ alerts: { page: { emails: ['night@example.com'], topicArn } } });
    for (const type of ['AWS::SNS::Topic', 'AWS::SNS::TopicPolicy', 'AWS::KMS::Key', 'AWS::KMS::Alias'])
      template.resourceCountIs(type, 0);
    template.hasResourceProperties('AWS::SNS::Subscription', { TopicArn: topicArn, Endpoint: 'night@example.com' });
    template.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [topicArn], OKActions: [topicArn] });
  });

  it('print the statements that the policies of an existing topic and its key need: those of an own topic', () => {
    const inTopic = ofTopic.slice(1).map((statement) => ({ ...statement, Resource: topicArn }));
    expect(printed({ page: { emails: [], topicArn, kmsKeyArn } })).toEqual([inTopic, ofKey.slice(1)]);
    expect(printed({ page: { emails: [], topicArn } })).toEqual([inTopic]);
  });
});
