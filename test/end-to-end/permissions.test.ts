import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ServiceException,
} from '@aws-sdk/client-s3';
import { objectKey } from '../../lambda/archive/archive-layout';
import type { Template } from '../../local/deployment/stack-template';
import { type DeployedCollector, type LocalCollector, startLocalCollector } from './local-collector';
import { bucketPolicy, policyOf, type Statements, without, withoutAction, withSid } from './template-policies';

const noon = new Date('2026-11-20T12:00:00Z');

let collector: LocalCollector;

beforeAll(async () => {
  collector = await startLocalCollector();
});
afterEach(() => collector.closeDeployments());
afterAll(() => collector.close());

const rolePolicy = (template: Template) => policyOf(template, 'AWS::IAM::Policy', 'Collector');
const schedulePolicy = (template: Template) => policyOf(template, 'AWS::IAM::Policy', 'Schedule');

/** Takes one of a statement's resources away. */
function withoutResource(policy: Statements, sid: string, ending: string): void {
  policy.Statement = policy.Statement.map((statement) => {
    if (statement.Sid !== sid) return statement;
    const Resource = [statement.Resource].flat().filter((resource) => !JSON.stringify(resource).includes(ending));
    return { ...statement, Resource: Resource as string[] };
  });
}

describe('a permission that the function lacks fails the job loudly', () => {
  it.each(['logs', 'manifests'])('to write under %s/', async (prefix) => {
    const deployed = await collector.deploy({
      edit: (template) => withoutResource(rolePolicy(template), 'AddToArchive', `/${prefix}/`),
    });
    const { attempts, condition } = await deployed.fireSchedule(noon);
    expect(condition).toBe('RetriesExhausted');
    expect(attempts.at(-1)?.error?.errorMessage).toMatch(/AccessDenied|not authorized to perform: s3:PutObject/);
    const [record] = await deployed.records();
    expect(record?.counts).toEqual({ archived: 3, alreadyArchived: 0, failed: 3, notAttempted: 0 });
    expect((await deployed.keys()).filter((key) => key.startsWith(`${prefix}/`))).toEqual([]);
    expect(deployed.messages).toHaveLength(1);
  });

  it('to write under runs/', async () => {
    const deployed = await collector.deploy({
      edit: (template) => withoutResource(rolePolicy(template), 'AddToArchive', '/runs/'),
    });
    const { attempts, condition } = await deployed.fireSchedule(noon);
    expect(condition).toBe('RetriesExhausted');
    expect(attempts.at(-1)?.error?.errorMessage).toMatch(/s3:PutObject/);
  });

  it('to write under configurations/, once the run has its record', async () => {
    const deployed = await collector.deploy({
      edit: (template) => withoutResource(rolePolicy(template), 'AddToArchive', '/configurations/'),
    });
    const { attempts, condition } = await deployed.fireSchedule(noon);
    expect(condition).toBe('RetriesExhausted');
    expect(attempts.at(-1)?.error?.errorMessage).toMatch(/not authorized to perform: s3:PutObject .*configurations/);
    expect((await deployed.records()).map(({ status }) => status)).toEqual(Array(3).fill('complete'));
  });

  it('to read the API key', async () => {
    const deployed = await collector.deploy({
      edit: (template) => without(rolePolicy(template), withSid('ReadApiKey')),
    });
    const { attempts, condition } = await deployed.fireSchedule(noon);
    expect(condition).toBe('RetriesExhausted');
    expect(attempts.at(-1)?.error?.errorMessage).toMatch(/secretsmanager:GetSecretValue/);
  });

  it('to tell of its failures', async () => {
    const deployed = await collector.deploy({
      edit: (template) => without(rolePolicy(template), withSid('TellOfFailures')),
    });
    collector.failing.beta = 'not-found';
    await expect(deployed.fireSchedule(noon)).rejects.toMatchObject({
      name: 'MessageRefusedError',
      message: expect.stringContaining('not authorized to perform: lambda:InvokeFunction'),
    });
  });
});

describe('a permission that the function of failure messages lacks', () => {
  const policy = (template: Template) => policyOf(template, 'AWS::IAM::Policy', 'FailureMessagesRole');

  it.each(['sns:Publish', 'kms:GenerateDataKey', 'kms:Decrypt'])('%s leaves the record in a queue', async (action) => {
    const deployed = await collector.deploy({ edit: (template) => withoutAction(policy(template), action) });
    collector.failing.beta = 'not-found';
    await deployed.fireSchedule(noon);
    const [{ to = '', body = '' } = {}, ...others] = deployed.messages;
    expect(others).toEqual([]);
    expect(to).toMatch(/^arn:aws:sqs:.*FailureMessagesUntold/);
    expect(JSON.parse(body)).toMatchObject({
      requestPayload: { responsePayload: { errorType: 'RunIncompleteError' } },
      responsePayload: { errorMessage: expect.stringContaining(`not authorized to perform: ${action}`) },
    });
  });
});

describe('a permission to read run records that the function lacks costs requests, not the run, and the log tells it', () => {
  const warned = (logs: readonly string[]) => logs.filter((line) => line.includes('run record not used')).join();

  it('to list them', async () => {
    const deployed = await collector.deploy({
      edit: (template) => without(rolePolicy(template), withSid('ListRunRecords')),
    });
    expect((await deployed.fireSchedule(noon)).condition).toBeUndefined();
    expect(warned(deployed.logs)).toMatch(/s3:ListBucket/);
  });

  it('to read them, which a second attempt needs', async () => {
    const deployed = await collector.deploy({
      edit: (template) => without(rolePolicy(template), withSid('ReadRunRecords')),
    });
    expect((await deployed.fireSchedule(noon)).condition).toBeUndefined();
    expect(warned(deployed.logs)).toBe('');
    expect((await deployed.fireSchedule(noon)).condition).toBeUndefined();
    expect(warned(deployed.logs)).toMatch(/s3:GetObject/);
    expect((await deployed.records()).map(({ attempt, counts }) => [attempt, counts.alreadyArchived])).toEqual([
      [1, 0],
      [2, 6],
    ]);
  });
});

describe('a permission that the schedule lacks fails the job loudly', () => {
  it('to start the function', async () => {
    const deployed = await collector.deploy({
      edit: (template) => without(schedulePolicy(template), withSid('StartRun')),
    });
    await expect(deployed.fireSchedule(noon)).rejects.toThrow(/lambda:InvokeFunction .*lies in the dead-letter queue/);
    expect(deployed.messages.map(({ to }) => to)).toEqual([expect.stringMatching(/^arn:aws:sqs:/)]);
    expect(await deployed.keys()).toEqual([]);
  });

  it('to keep what it could not deliver', async () => {
    const deployed = await collector.deploy({
      edit: (template) => {
        without(schedulePolicy(template), withSid('StartRun'));
        without(schedulePolicy(template), withSid('KeepUndelivered'));
      },
    });
    await expect(deployed.fireSchedule(noon)).rejects.toThrow(/The event is lost\. .*sqs:SendMessage/);
  });
});

it('every statement of both roles is broken by a test above, but the one that has no effect locally', async () => {
  const sids: (string | undefined)[] = [];
  await collector.deploy({
    edit: (template) => {
      for (const { Statement } of [rolePolicy(template), schedulePolicy(template)])
        sids.push(...Statement.map(({ Sid, Action }) => Sid ?? String(Action)));
    },
  });
  const noLocalEffect = 'WriteLog';
  const broken = ['AddToArchive', 'ReadRunRecords', 'ListRunRecords', 'ReadApiKey', 'StartRun', 'KeepUndelivered'];
  expect(sids.sort()).toEqual([noLocalEffect, ...broken, 'TellOfFailures'].sort());
});

describe('the bucket’s policy', () => {
  const key = objectKey({ cluster: 'alpha', resource: 'log', run: noon, compression: 'gzip' });

  const s3 = ({ url, region, credentials }: DeployedCollector) => new S3Client({ endpoint: url, region, credentials });
  const overwrite = (deployed: DeployedCollector) =>
    s3(deployed).send(new PutObjectCommand({ Bucket: deployed.bucket, Key: key, Body: 'something else' }));
  const remove = (deployed: DeployedCollector) =>
    s3(deployed).send(new DeleteObjectCommand({ Bucket: deployed.bucket, Key: key }));
  const refusal = {
    name: 'AccessDenied',
    message: expect.stringContaining('with an explicit deny in a resource-based policy'),
  };

  /** Lets the role do everything, so that the bucket's policy alone is what stands in its way. */
  const widen = (template: Template) => {
    rolePolicy(template).Statement.push({ Effect: 'Allow', Action: 's3:*', Resource: '*' });
  };

  it('keeps even a role that may do everything from overwriting and deleting', async () => {
    const deployed = await collector.deploy({ edit: widen });
    await deployed.fireSchedule(noon);
    await expect(overwrite(deployed)).rejects.toMatchObject(refusal);
    await expect(remove(deployed)).rejects.toMatchObject(refusal);
    expect(await deployed.keys()).toContain(key);
  });

  it.each([
    ['OnlyNewObjects', overwrite],
    ['NoDeletion', remove],
  ])('does so by its statement %s', async (sid, act) => {
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
    const { attempts } = await deployed.fireSchedule(noon);
    expect(attempts.at(-1)?.error?.errorMessage).toMatch(/explicit deny in a resource-based policy/);
    expect(await deployed.keys()).toEqual([]);
  });
});

it('the role can neither read nor list what it archived, except run records and configurations', async () => {
  const deployed = await collector.deploy();
  await deployed.fireSchedule(noon);
  const { url, region, credentials, bucket: Bucket } = deployed;
  const client = new S3Client({ endpoint: url, region, credentials });
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
