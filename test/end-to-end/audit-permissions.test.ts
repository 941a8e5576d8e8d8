import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { objectKey, runRecordKey, sealKey } from '../../lambda/archive/archive-layout';
import type { AuditResult } from '../../lambda/audit/audit';
import type { RoleCredentials } from '../../local/deployment/function-variables';
import type { Template } from '../../local/deployment/stack-template';
import { type DeployedCollector, type LocalCollector, startLocalCollector } from './local-collector';
import { bucketPolicy, policyOf, without, withoutAction, withSid } from './template-policies';

const noon = new Date('2026-11-20T12:00:00Z');
const one = new Date('2026-11-20T13:00:00Z');

let collector: LocalCollector;

beforeAll(async () => {
  collector = await startLocalCollector({ audit: { schedule: 'cron(30 12 * * ? *)' }, archive: { kms: true } });
});
afterEach(() => collector.closeDeployments());
afterAll(() => collector.close());

const auditPolicy = (template: Template) => policyOf(template, 'AWS::IAM::Policy', 'AuditRole');
const auditSchedulePolicy = (template: Template) => policyOf(template, 'AWS::IAM::Policy', 'AuditSchedule');
const collectorPolicy = (template: Template) => policyOf(template, 'AWS::IAM::Policy', 'Collector');

function auditOf({ audit }: DeployedCollector): NonNullable<DeployedCollector['audit']> {
  if (audit === undefined) throw new Error('the stack has no audit');
  return audit;
}

const firstSeal = sealKey(1);
const sealsIn = async (deployed: DeployedCollector) =>
  (await deployed.keys()).filter((key) => key.startsWith('seals/'));

it('an audit with all its permissions seals, signs and tells people', async () => {
  const deployed = await collector.deploy();
  await deployed.fireSchedule(noon);
  const { attempts, condition } = await auditOf(deployed).fireSchedule(one);
  expect(condition).toBeUndefined();
  expect(attempts).toMatchObject([{ payload: { number: 1, seal: one.toISOString(), damage: 0, found: {} } }]);
  expect((attempts[0]?.payload as AuditResult).found).toEqual({});
  expect(await sealsIn(deployed)).toEqual([firstSeal]);
  expect(deployed.messages).toMatchObject([{ subject: expect.stringContaining('nothing is damaged') }]);
});

describe('a permission that the audit lacks fails it loudly', () => {
  it.each([
    ['s3:ListBucket', 'ListArchive', /Listing .*AccessDenied/, []],
    ['s3:GetObject', 'ReadArchive', /Reading .*AccessDenied/, []],
    ['kms:Decrypt', 'UseArchiveKey', /Reading .*AccessDenied/, []],
    ['s3:PutObject', 'AddSeals', /not authorized to perform: s3:PutObject .*seals/, []],
    ['kms:GenerateDataKey', 'UseArchiveKey', /not authorized to perform: kms:GenerateDataKey/, []],
    ['kms:Sign', 'SignSeals', /not authorized to perform: kms:Sign/, []],
    ['kms:GetPublicKey', 'SignSeals', /not authorized to perform: kms:GetPublicKey/, []],
  ])('%s of %s', async (action, sid, message, left) => {
    const deployed = await collector.deploy({
      edit: (template) => withoutAction(auditPolicy(template), action, withSid(sid)),
    });
    // What is read is a run record.
    if (message.source.startsWith('Reading')) await deployed.fireSchedule(noon);
    const { attempts, condition } = await auditOf(deployed).fireSchedule(one);
    expect(condition).toBe('RetriesExhausted');
    expect(attempts.at(-1)?.error?.errorMessage).toMatch(message);
    expect(await sealsIn(deployed)).toEqual(left);
    expect(deployed.messages).toMatchObject([{ body: expect.stringContaining('RetriesExhausted') }]);
  });
});

it('to tell of its failures, which the audit lacks, fails it loudly', async () => {
  const deployed = await collector.deploy({
    edit: (template) => {
      for (const sid of ['ListArchive', 'TellOfFailures']) without(auditPolicy(template), withSid(sid));
    },
  });
  await expect(auditOf(deployed).fireSchedule(one)).rejects.toMatchObject({ name: 'MessageRefusedError' });
});

describe('a seal that people cannot be told about is there, and the log says so', () => {
  it.each(['sns:Publish', 'kms:GenerateDataKey', 'kms:Decrypt'])('without %s', async (action) => {
    const ofTopic = ({ Sid }: { Sid?: string | undefined }) => Sid === undefined;
    const deployed = await collector.deploy({
      edit: (template) => withoutAction(auditPolicy(template), action, ofTopic),
    });
    const { condition } = await auditOf(deployed).fireSchedule(one);
    expect(condition).toBeUndefined();
    expect(await sealsIn(deployed)).toEqual([firstSeal]);
    expect(deployed.messages).toEqual([]);
    const [line] = deployed.logs.filter((text) => text.includes('people not told'));
    expect(line).toContain(`not authorized to perform: ${action}`);
  });
});

it('without s3:ListBucketVersions the audit still seals, and says that it did not look for deleted seals', async () => {
  const withoutVersions = (template: Template) => withoutAction(auditPolicy(template), 's3:ListBucketVersions');
  const { attempts } = await auditOf(await collector.deploy({ edit: withoutVersions })).fireSchedule(one);
  expect((attempts[0]?.payload as AuditResult | undefined)?.found).toEqual({ unreadable: 1 });
});

describe('a permission that the schedule of the audit lacks fails it loudly', () => {
  it('to start the audit', async () => {
    const deployed = await collector.deploy({
      edit: (template) => without(auditSchedulePolicy(template), withSid('StartRun')),
    });
    await expect(auditOf(deployed).fireSchedule(one)).rejects.toThrow(
      /lambda:InvokeFunction .*lies in the dead-letter queue/,
    );
  });

  it('to keep what it could not deliver', async () => {
    const deployed = await collector.deploy({
      edit: (template) => {
        without(auditSchedulePolicy(template), withSid('StartRun'));
        without(auditSchedulePolicy(template), withSid('KeepUndelivered'));
      },
    });
    await expect(auditOf(deployed).fireSchedule(one)).rejects.toThrow(/The event is lost\. .*sqs:SendMessage/);
  });
});

describe('whatever its role allows', () => {
  const everything = { Effect: 'Allow', Action: ['s3:*', 'kms:*'], Resource: '*' } as const;
  const widen = (template: Template) => {
    for (const policy of [auditPolicy(template), collectorPolicy(template)]) policy.Statement.push(everything);
  };
  const s3 = ({ url, region }: DeployedCollector, credentials: RoleCredentials) =>
    new S3Client({ endpoint: url, region, credentials });
  const refusal = {
    name: 'AccessDenied',
    message: expect.stringContaining('with an explicit deny in a resource-based policy'),
  };
  const forged = { Body: '{}', IfNoneMatch: '*' };

  const sealAsCollector = (deployed: DeployedCollector) =>
    s3(deployed, deployed.credentials).send(
      new PutObjectCommand({ Bucket: deployed.bucket, Key: sealKey(2), ...forged }),
    );
  const archiveAsAudit = (deployed: DeployedCollector, Key: string) =>
    s3(deployed, auditOf(deployed).credentials).send(new PutObjectCommand({ Bucket: deployed.bucket, Key, ...forged }));
  const replaceSeal = (deployed: DeployedCollector) =>
    s3(deployed, auditOf(deployed).credentials).send(
      new PutObjectCommand({ Bucket: deployed.bucket, Key: firstSeal, Body: '{}' }),
    );
  const removeAsAudit = (deployed: DeployedCollector) =>
    s3(deployed, auditOf(deployed).credentials).send(
      new DeleteObjectCommand({ Bucket: deployed.bucket, Key: firstSeal }),
    );
  const signAsCollector = ({ url, region, credentials, audit }: DeployedCollector) =>
    new KMSClient({ endpoint: url, region, credentials }).send(
      new SignCommand({
        KeyId: audit?.definition.environment.SIGNING_KEY_ARN,
        Message: Buffer.from('a forged seal'),
        MessageType: 'RAW',
        SigningAlgorithm: 'ECDSA_SHA_256',
      }),
    );
  const archived = [
    runRecordKey({ run: one, attempt: 1 }),
    objectKey({ cluster: 'alpha', resource: 'log', run: one, compression: 'gzip' }),
    objectKey({ cluster: 'alpha', resource: 'manifest', run: one, compression: 'gzip' }),
    `configurations/${'0'.repeat(64)}.json.gz`,
  ];

  it('the collector neither seals nor signs, and the audit neither archives nor replaces nor deletes', async () => {
    const deployed = await collector.deploy({ edit: widen });
    await deployed.fireSchedule(noon);
    await auditOf(deployed).fireSchedule(one);
    const before = await deployed.keys();
    await expect(sealAsCollector(deployed)).rejects.toMatchObject(refusal);
    await expect(replaceSeal(deployed)).rejects.toMatchObject(refusal);
    await expect(removeAsAudit(deployed)).rejects.toMatchObject(refusal);
    for (const key of archived) await expect(archiveAsAudit(deployed, key)).rejects.toMatchObject(refusal);
    await expect(signAsCollector(deployed)).rejects.toMatchObject({ name: 'AccessDeniedException' });
    expect(await deployed.keys()).toEqual(before);
  });

  it.each<[string, (deployed: DeployedCollector) => Promise<unknown>]>([
    ['SealsByAuditOnly', sealAsCollector],
    ['OnlyNewSeals', replaceSeal],
    ['AuditDeletesNothing', removeAsAudit],
    ['AuditArchivesNothing', async (deployed) => Promise.all(archived.map((key) => archiveAsAudit(deployed, key)))],
  ])('the bucket holds this by its statement %s', async (sid, act) => {
    const deployed = await collector.deploy({
      edit: (template) => {
        widen(template);
        without(bucketPolicy(template), withSid(sid));
      },
    });
    await act(deployed);
  });

  it('the key holds this by its statement SignedByAuditOnly', async () => {
    const deployed = await collector.deploy({
      edit: (template) => {
        widen(template);
        without(keyPolicy(template), withSid('SignedByAuditOnly'));
      },
    });
    expect((await signAsCollector(deployed)).Signature).toBeDefined();
  });
});

/** The policy of the key that signs. */
function keyPolicy(template: Template) {
  const key = Object.entries(template.Resources).find(([id]) => id.startsWith('AuditSigningKey'));
  return key?.[1].Properties?.KeyPolicy as ReturnType<typeof bucketPolicy>;
}

it('every statement of both roles is broken by a test above, but those that have no effect locally', async () => {
  const sids: (string | undefined)[] = [];
  await collector.deploy({
    edit: (template) => {
      for (const { Statement } of [auditPolicy(template), auditSchedulePolicy(template)])
        sids.push(...Statement.map(({ Sid, Action }) => Sid ?? String(Action)));
    },
  });
  const noLocalEffect = 'WriteLog';
  const broken = [
    'ListArchive',
    'ReadArchive',
    'AddSeals',
    'UseArchiveKey',
    'SignSeals',
    'StartRun',
    'KeepUndelivered',
    'TellOfFailures',
  ];
  const ofTheTopic = ['sns:Publish', 'kms:Decrypt,kms:GenerateDataKey'];
  expect(sids.sort()).toEqual([noLocalEffect, ...broken, ...ofTheTopic].sort());
});

it('the collector may read neither a seal nor the public key', async () => {
  const { url, region, credentials, audit, bucket: Bucket } = await collector.deploy();
  const s3 = new S3Client({ endpoint: url, region, credentials });
  const kms = new KMSClient({ endpoint: url, region, credentials });
  const KeyId = audit?.definition.environment.SIGNING_KEY_ARN;
  await expect(s3.send(new GetObjectCommand({ Bucket, Key: firstSeal }))).rejects.toMatchObject({
    name: 'AccessDenied',
  });
  await expect(kms.send(new GetPublicKeyCommand({ KeyId }))).rejects.toMatchObject({ name: 'AccessDeniedException' });
});
