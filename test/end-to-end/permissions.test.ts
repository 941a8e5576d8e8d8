import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ServiceException,
} from '@aws-sdk/client-s3';
import { objectKey } from '../../archive/format/keys';
import type { Template } from '../../local/deployment/stack-template';
import { type DeployedCollector, uids, useLocalCollector } from './local-collector';
import { bucketPolicy, policyOf, statementsOf, without, withoutAction, withSid } from './template-policies';

const noon = new Date('2026-11-20T12:00:00Z');
const event = { scheduledTime: noon.toISOString() };

const collector = useLocalCollector({
  clusters: uids,
  audit: { schedule: 'cron(30 12 * * ? *)' },
  archive: { kms: true },
});

const rolePolicy = (template: Template) => policyOf(template, 'AWS::IAM::Policy', 'Collector');
const schedulePolicy = (template: Template, prefix = 'Schedule') => policyOf(template, 'AWS::IAM::Policy', prefix);
const failurePolicy = (template: Template) => policyOf(template, 'AWS::IAM::Policy', 'FailureMessagesRole');

type Edit = (template: Template) => void;

const withoutStatement =
  (sid: string): Edit =>
  (template) =>
    without(rolePolicy(template), withSid(sid));

/** Takes the permission to write under a prefix away. */
const unwritable =
  (prefix: string): Edit =>
  (template) => {
    const policy = rolePolicy(template);
    policy.Statement = policy.Statement.map((statement) => {
      if (statement.Sid !== 'AddToArchive') return statement;
      const Resource = [statement.Resource].flat().filter((resource) => !JSON.stringify(resource).includes(prefix));
      return { ...statement, Resource: Resource as string[] };
    });
  };

/** Lets the archive's key be used through another service only. */
const throughAnother: Edit = (template) => {
  const policy = rolePolicy(template);
  policy.Statement = policy.Statement.map((statement) =>
    statement.Sid === 'UseArchiveKey'
      ? { ...statement, Condition: { StringEquals: { 'kms:ViaService': 'sns.eu-central-1.amazonaws.com' } } }
      : statement,
  );
};

describe('a permission that the function lacks fails the job loudly', () => {
  it.each<[string, Edit, RegExp]>([
    ['to write under logs/', unwritable('/logs/'), /not authorized to perform: s3:PutObject .*logs/],
    ['to write under runs/', unwritable('/runs/'), /s3:PutObject/],
    ['to read the API key', withoutStatement('ReadApiKey'), /secretsmanager:GetSecretValue/],
    [
      'to encrypt',
      (template) => withoutAction(rolePolicy(template), 'kms:GenerateDataKey', withSid('UseArchiveKey')),
      /kms:GenerateDataKey/,
    ],
    ['to encrypt through S3', throughAnother, /kms:GenerateDataKey/],
  ])('%s', async (_what, edit, message) => {
    const { error } = await (await collector.deploy({ edit })).invoke(event);
    expect(error?.errorMessage).toMatch(message);
  });

  it('to write under manifests/, to the last attempt, and people are told', async () => {
    const deployed = await collector.deploy({ edit: unwritable('/manifests/') });
    const { attempts, failure } = await deployed.fireSchedule(noon);
    expect(attempts).toHaveLength(3);
    expect(failure?.errorMessage).toMatch(/not authorized to perform: s3:PutObject .*manifests/);
    const [record] = await deployed.records();
    expect(record?.counts).toEqual({ archived: 3, alreadyArchived: 0, failed: 3, notAttempted: 0 });
    expect((await deployed.keys()).filter((key) => key.startsWith('manifests/'))).toEqual([]);
    expect(deployed.messages).toHaveLength(1);
  });

  it('to write under configurations/, once the run has its record', async () => {
    const deployed = await collector.deploy({ edit: unwritable('/configurations/') });
    const { error } = await deployed.invoke(event);
    expect(error?.errorMessage).toMatch(/not authorized to perform: s3:PutObject .*configurations/);
    expect((await deployed.records()).map(({ status }) => status)).toEqual(['complete']);
  });

  it('to tell of its failures', async () => {
    const deployed = await collector.deploy({ edit: withoutStatement('ReportFailures') });
    await expect(deployed.invokeAsync({ unknown: true })).rejects.toMatchObject({
      name: 'MessageRefusedError',
      message: expect.stringContaining('not authorized to perform: lambda:InvokeFunction'),
    });
  });
});

describe('a permission that the function of failure messages lacks', () => {
  it.each(['sns:Publish', 'kms:GenerateDataKey', 'kms:Decrypt'])('%s leaves the record in a queue', async (action) => {
    const deployed = await collector.deploy({ edit: (template) => withoutAction(failurePolicy(template), action) });
    await deployed.invokeAsync({ unknown: true });
    const [{ to = '', body = '' } = {}, ...others] = deployed.messages;
    expect(others).toEqual([]);
    expect(to).toMatch(/^arn:aws:sqs:.*DeadLetters/);
    expect(JSON.parse(body)).toMatchObject({
      requestPayload: { responsePayload: { errorType: 'InvalidEventError' } },
      responsePayload: { errorMessage: expect.stringContaining(`not authorized to perform: ${action}`) },
    });
  });
});

describe('a permission to read run records that the function lacks costs requests, not the run, and the log tells it', () => {
  const warned = (logs: readonly string[]) => logs.filter((line) => line.includes('run record not used')).join();

  it.each<[string, Edit, RegExp, { warns: number[] }]>([
    ['to list them', withoutStatement('ListRunRecords'), /s3:ListBucket/, { warns: [1, 2] }],
    ['to read them, which a second attempt needs', withoutStatement('ReadRunRecords'), /s3:GetObject/, { warns: [2] }],
    [
      'to decrypt them',
      (template) => withoutAction(rolePolicy(template), 'kms:Decrypt', withSid('UseArchiveKey')),
      /kms:Decrypt/,
      { warns: [2] },
    ],
  ])('%s', async (_what, edit, warning, { warns }) => {
    const deployed = await collector.deploy({ edit });
    for (const attempt of [1, 2]) {
      expect((await deployed.invoke(event)).error).toBeUndefined();
      if (warns.includes(attempt)) expect(warned(deployed.logs)).toMatch(warning);
      else expect(warned(deployed.logs)).toBe('');
    }
    const [first, second] = await deployed.records();
    expect(first?.counts.alreadyArchived).toBe(0);
    expect(second?.counts.alreadyArchived).toBe(6);
  });
});

describe.each(['Schedule', 'AuditSchedule'])('a permission that the %s lacks fails the job loudly', (prefix) => {
  const firing = ({ audit, ...deployed }: DeployedCollector) =>
    (prefix === 'Schedule' ? deployed : audit)?.fireSchedule(noon);

  it('to start the function', async () => {
    const deployed = await collector.deploy({
      edit: (template) => without(schedulePolicy(template, prefix), withSid('StartRun')),
    });
    await expect(firing(deployed)).rejects.toThrow(/lambda:InvokeFunction .*lies in the dead-letter queue/);
    expect(deployed.messages.map(({ to }) => to)).toEqual([expect.stringMatching(/^arn:aws:sqs:/)]);
    expect(await deployed.keys()).toEqual([]);
  });

  it('to keep what it could not deliver', async () => {
    const deployed = await collector.deploy({
      edit: (template) => {
        for (const sid of ['StartRun', 'KeepUndelivered']) without(schedulePolicy(template, prefix), withSid(sid));
      },
    });
    await expect(firing(deployed)).rejects.toThrow(/The event is lost\. .*sqs:SendMessage/);
  });
});

it('every statement of these roles is broken by a test above, but the one that has no effect locally', () => {
  const noLocalEffect = 'WriteLog';
  const broken = ['AddToArchive', 'ReadRunRecords', 'ListRunRecords', 'ReadApiKey', 'UseArchiveKey', 'ReportFailures'];
  expect(statementsOf(rolePolicy(collector.template))).toEqual([noLocalEffect, ...broken].sort());
  for (const prefix of ['Schedule', 'AuditSchedule'])
    expect(statementsOf(schedulePolicy(collector.template, prefix))).toEqual(['KeepUndelivered', 'StartRun']);
});

describe('the bucket’s policy', () => {
  const key = objectKey({ cluster: 'alpha', resource: 'log', run: noon });

  const s3 = ({ url, region, definition }: DeployedCollector) =>
    new S3Client({ endpoint: url, region, credentials: definition.role });
  const overwrite = (deployed: DeployedCollector) =>
    s3(deployed).send(new PutObjectCommand({ Bucket: deployed.bucket, Key: key, Body: 'something else' }));
  const remove = (deployed: DeployedCollector) =>
    s3(deployed).send(new DeleteObjectCommand({ Bucket: deployed.bucket, Key: key }));

  /** Lets the role do everything, so that the bucket's policy alone is what stands in its way. */
  const widen = (template: Template) => {
    rolePolicy(template).Statement.push({ Effect: 'Allow', Action: ['s3:*', 'kms:*'], Resource: '*' });
  };

  it.each([
    ['OnlyNewObjects', 'overwriting', overwrite],
    ['NoDeletion', 'deleting', remove],
  ])('keeps, by its statement %s, even a role that may do everything from %s', async (sid, _what, act) => {
    await expect(act(await collector.deploy({ edit: widen }))).rejects.toMatchObject({
      name: 'AccessDenied',
      message: expect.stringContaining('with an explicit deny in a resource-based policy'),
    });
    const deployed = await collector.deploy({
      edit: (template) => {
        widen(template);
        without(bucketPolicy(template), withSid(sid));
      },
    });
    await act(deployed);
  });

  it('fails the job loudly if it denies what the function does', async () => {
    const deployed = await collector.deploy({
      edit: (template) => {
        const policy = bucketPolicy(template);
        policy.Statement = policy.Statement.map((statement) =>
          statement.Sid === 'OnlyNewObjects' ? { ...statement, Condition: {} } : statement,
        );
      },
    });
    const { error } = await deployed.invoke(event);
    expect(error?.errorMessage).toMatch(/explicit deny in a resource-based policy/);
    expect(await deployed.keys()).toEqual([]);
  });
});

it('the role can neither read nor list what it archived, except run records and configurations', async () => {
  const deployed = await collector.deploy();
  await deployed.invoke(event);
  const { url, region, definition, bucket: Bucket } = deployed;
  const client = new S3Client({ endpoint: url, region, credentials: definition.role });
  for (const key of await deployed.keys()) {
    const reading = client.send(new GetObjectCommand({ Bucket, Key: key }));
    if (/^(?:runs|configurations)\//.test(key)) await (await reading).Body?.transformToString();
    else await expect(reading).rejects.toMatchObject({ name: 'AccessDenied' } satisfies Partial<S3ServiceException>);
  }
  await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'runs/' }));
  for (const Prefix of [undefined, '', 'logs/', 'manifests/', 'run'])
    await expect(client.send(new ListObjectsV2Command({ Bucket, Prefix }))).rejects.toMatchObject({
      name: 'AccessDenied',
    });
});
