import type { StampAuthority } from '../../archive/format/plan';
import { resourceNames } from '../../archive/format/resources';
import { auditPlanOf } from '../../infra/audit';
import { createApp } from '../../infra/collector-app';
import { exampleConfig } from './example-config';
import {
  allowedTo,
  audited,
  everything,
  kmsKeyArn,
  type Resource,
  resourceOf,
  type TemplateJson,
  templateOf,
  textOf,
} from './example-stack';

const json = templateOf(audited);
const plain = templateOf();

describe('without an audit', () => {
  const { audit: _, ...rest } = exampleConfig(audited);

  it('the template is as if there was no such option', () => {
    expect(JSON.stringify(plain)).not.toMatch(/AuditFunction|seals|kms:Sign/);
    expect(rest).toEqual(exampleConfig());
  });

  it('the rest of the stack is the same, apart from the policy of the archive, the alarm about lost messages and the dashboard', () => {
    const text = (resource: unknown) => JSON.stringify(resource)?.replace(/[0-9a-f]{64}\.zip/, '');
    const changed = Object.entries(plain.Resources).filter(
      ([id, resource]) => text(json.Resources[id]) !== text(resource),
    );
    expect(changed.map(([, { Type }]) => Type).sort()).toEqual([
      'AWS::CloudWatch::Alarm',
      'AWS::CloudWatch::Dashboard',
      'AWS::S3::BucketPolicy',
    ]);
    const statements = ({ Properties }: Resource) => (Properties.PolicyDocument as { Statement: object[] }).Statement;
    const policyOf = (stack: TemplateJson) => statements(resourceOf(stack, 'AWS::S3::BucketPolicy', 'ArchiveBucket'));
    expect(policyOf(json)).toEqual(expect.arrayContaining(policyOf(plain)));
    expect(policyOf(json)).toHaveLength(policyOf(plain).length + 4);
  });
});

describe('the role of the audit', () => {
  const always = [
    'kms:Decrypt <AlertsKey.Arn>',
    'kms:GenerateDataKey <AlertsKey.Arn>',
    'kms:GetPublicKey <AuditSigningKey.Arn>',
    'kms:Sign <AuditSigningKey.Arn>',
    'lambda:InvokeFunction <FailureMessagesFunction.Arn>',
    'logs:CreateLogStream <AuditLogs.Arn>',
    'logs:PutLogEvents <AuditLogs.Arn>',
    's3:GetObject <ArchiveBucket.Arn>/*',
    's3:ListBucket <ArchiveBucket.Arn>',
    's3:ListBucketVersions <ArchiveBucket.Arn>',
    's3:PutObject <ArchiveBucket.Arn>/seals/*',
    'sns:Publish <AlertsTopic>',
  ];
  const allowed = (changes: object) => allowedTo(templateOf({ ...audited, ...changes }), 'AuditRole');

  it('allows exactly what the audit needs', () => {
    expect(allowed({})).toEqual(always);
  });

  it('allows exactly the secret with the address of a monitoring service', () => {
    const secret =
      'arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:monitoring/heartbeat-??????';
    expect(allowed({ alerts: { heartbeat: { secret: 'monitoring/heartbeat' } } })).toEqual(
      [...always, `secretsmanager:GetSecretValue ${secret}`].sort(),
    );
  });

  it("allows the archive's keys, present and former, through S3 only", () => {
    const condition = 'if {StringEquals: {kms:ViaService: s3.<AWS::Region>.<AWS::URLSuffix>}}';
    const own = ['kms:Decrypt', 'kms:GenerateDataKey'].map((action) => `${action} <ArchiveKey.Arn> ${condition}`);
    expect(allowed({ archive: { kms: true, formerKmsKeyArns: [kmsKeyArn] } })).toEqual(
      [...always, ...own, `kms:Decrypt ${kmsKeyArn} ${condition}`].sort(),
    );
  });
});

describe('the function of the audit', () => {
  it('judges the archive by what was configured', () => {
    const config = exampleConfig({
      clusters: ['a', { uid: 'b', projectUid: 'p', requestId: 'r', resources: ['log'], optional: true }],
      schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Europe/Berlin' },
      archive: { retentionDays: 400 },
      shards: 2,
    });
    const acknowledged = [{ kind: 'missing' as const, key: 'logs/x', why: 'known' }];
    const others = [
      { cluster: 'a', from: '2026-01-01', to: '2026-02-01', why: 'law' },
      { cluster: 'b', why: 'law' },
      { retentionDays: 40, why: 'decided' },
    ];
    const settings = {
      rereadDays: 90,
      ...{ formerPublicKeys: ['key'], acknowledged },
    };
    const audit = {
      ...{
        schedule: 'cron(30 6 * * ? *)',
        alarms: { logGaps: true, staleAfterHours: 48, frozenAfterHours: 26 },
        signingKeyArn: kmsKeyArn,
      },
      ...settings,
      acknowledged: [...acknowledged, ...others],
    };
    expect(auditPlanOf(config, audit)).toEqual({
      clusters: [
        { uid: 'a', resources: resourceNames },
        { uid: 'b', resources: ['log'], optional: true },
      ],
      schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Europe/Berlin', enabled: true },
      auditSchedule: { expression: 'cron(30 6 * * ? *)', timeZone: 'Europe/Berlin', enabled: true },
      retentionDays: 400,
      shards: 2,
      frozenAfterHours: 26,
      ...settings,
      erased: [
        { cluster: 'a', from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T23:59:59.999Z', why: 'law' },
        { cluster: 'b', why: 'law' },
      ],
      shorterRetentions: [{ retentionDays: 40, why: 'decided' }],
    });
  });

  it('reads everything again within 90 days unless it is told otherwise, or never to', () => {
    const planOf = (settings: object) => auditPlanOf(exampleConfig(), { ...audited.audit, ...settings });
    expect(planOf({}).rereadDays).toBe(90);
    expect(planOf({ rereadDays: 30 }).rereadDays).toBe(30);
    expect(planOf({ rereadDays: false }).rereadDays).toBeUndefined();
  });

  it('signs with an existing key, whose policy is printed, in place of one of the stack', () => {
    const withKey = templateOf({ audit: { ...audited.audit, signingKeyArn: kmsKeyArn } });
    expect(Object.keys(withKey.Resources).filter((id) => id.startsWith('AuditSigningKey'))).toEqual([]);
    expect(allowedTo(withKey, 'AuditRole')).toEqual(
      expect.arrayContaining([`kms:GetPublicKey ${kmsKeyArn}`, `kms:Sign ${kmsKeyArn}`]),
    );
    expect(JSON.parse(textOf(withKey.Outputs?.SigningKeyPolicy?.Value))).toMatchObject({
      Sid: 'SignedByAuditOnly',
      Effect: 'Deny',
      Action: 'kms:Sign',
      Condition: { ArnNotEquals: { 'aws:PrincipalArn': '<AuditRole.Arn>' } },
    });
    expect(json.Outputs).not.toHaveProperty('SigningKeyPolicy');
  });

  it('is started by a schedule of its own, even if the schedule of the runs is disabled', () => {
    const schedule = { expression: 'cron(0 * * * ? *)', timeZone: 'Asia/Tokyo', enabled: false };
    const { Properties } = resourceOf(
      templateOf({ schedule, audit: audited.audit }),
      'AWS::Scheduler::Schedule',
      'AuditSchedule',
    );
    expect(Properties).toMatchObject({
      ScheduleExpression: 'cron(30 6 * * ? *)',
      ScheduleExpressionTimezone: 'Asia/Tokyo',
      State: 'ENABLED',
      Target: {
        Arn: { 'Fn::GetAtt': [expect.stringMatching(/^AuditFunction/), 'Arn'] },
        Input: '{"scheduledTime":"<aws.scheduler.scheduled-time>","audit":true}',
      },
    });
    expect(allowedTo(json, 'AuditScheduleRole')).toEqual([
      'lambda:InvokeFunction <AuditFunction.Arn>',
      'sqs:SendMessage <DeadLetters.Arn>',
    ]);
  });
});

describe('the outputs of the audit', () => {
  it('export the public key, start an audit, and name the signing key', () => {
    const outputs = Object.fromEntries(
      Object.entries(json.Outputs ?? {}).map(([id, { Value }]) => [id, textOf(Value)]),
    );
    expect(outputs.ExportPublicKey).toBe(
      'aws kms get-public-key --region <AWS::Region> --key-id <AuditSigningKey.Arn> --query PublicKey --output text | ' +
        'openssl base64 -d -A | openssl pkey -pubin -inform DER -out seals-public-key.pem',
    );
    expect(outputs.AuditNow).toMatch(/^aws lambda invoke .* --function-name <AuditFunction> --invocation-type Event /);
    expect(outputs.SigningKey).toBe('<AuditSigningKey.Arn>');
  });
});

it('an audit in a network that asks for time stamps is warned that it needs a way out', () => {
  const told = (changes: Record<string, unknown>, timestamps?: StampAuthority[]) => {
    const config = exampleConfig({ ...audited, ...changes });
    const audit = config.audit && { ...config.audit, ...(timestamps && { timestamps }) };
    const context = { 'aws:cdk:bundling-stacks': [] };
    const { app } = createApp({ config: { ...config, audit }, validate: false, context });
    const { messages } = app.synth().getStackByName(config.name);
    return messages.map(({ entry }) => String(entry.data)).filter((text) => text.startsWith('audit.timestamps with'));
  };
  const { network } = everything;
  const authorities = [{ name: 'one', url: 'https://stamps.example', root: 'AA==' }];
  expect(told({ network }, authorities)).toHaveLength(1);
  expect([told({ network }), told({}, authorities)]).toEqual([[], []]);
});
