import { KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { objectKey, runRecordKey, sealKey, sealStatesPrefix } from '../../archive/format/keys';
import type { AuditResult } from '../../lambda/audit/audit';
import type { Principal } from '../../local/aws/call';
import type { LocalAudit } from '../../local/deployment/deploy-locally';
import type { Template } from '../../local/deployment/stack-template';
import { type DeployedCollector, useLocalCollector } from './local-collector';
import {
  bucketPolicy,
  policyOf,
  type Statements,
  statementsOf,
  without,
  withoutAction,
  withSid,
} from './template-policies';

// An audit takes no time that is more than a day old.
const one = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
const noon = { scheduledTime: new Date(one.getTime() - 3_600_000).toISOString() };
const event = { scheduledTime: one.toISOString() };

const collector = useLocalCollector({ audit: { schedule: 'cron(30 12 * * ? *)' }, archive: { kms: true } });

const auditPolicy = (template: Template) => policyOf(template, 'AWS::IAM::Policy', 'AuditRole');
const collectorPolicy = (template: Template) => policyOf(template, 'AWS::IAM::Policy', 'Collector');

interface DeployedAudit extends DeployedCollector {
  readonly audit: LocalAudit;
}

async function deploy(edit: (template: Template) => void = () => {}): Promise<DeployedAudit> {
  const deployed = await collector.deploy({ edit });
  if (deployed.audit === undefined) throw new Error('the stack has no audit');
  return { ...deployed, audit: deployed.audit };
}

const firstSeal = sealKey(1);
const sealsIn = async (deployed: DeployedCollector, prefix = 'seals/0') =>
  (await deployed.keys()).filter((key) => key.startsWith(prefix));

it('an audit with all its permissions seals, signs and tells people', async () => {
  const deployed = await deploy();
  await deployed.invoke(noon);
  const { attempts, failure } = await deployed.audit.fireSchedule(one);
  expect(failure).toBeUndefined();
  expect(attempts).toMatchObject([{ payload: { number: 1, seal: one.toISOString(), damage: 0, found: {} } }]);
  expect((attempts[0]?.payload as AuditResult).found).toEqual({});
  expect(await sealsIn(deployed)).toEqual([firstSeal]);
  expect(await sealsIn(deployed, sealStatesPrefix)).toHaveLength(1);
  expect(deployed.messages).toMatchObject([{ subject: expect.stringContaining('no damage seen') }]);
});

describe('a permission that the audit lacks fails it loudly', () => {
  it.each([
    ['s3:ListBucket', 'ListArchive', /Listing .*AccessDenied/],
    ['s3:GetObject', 'ReadArchive', /Reading .*AccessDenied/],
    ['kms:Decrypt', 'UseArchiveKey', /Reading .*AccessDenied/],
    ['s3:PutObject', 'AddSeals', /not authorized to perform: s3:PutObject .*seals/],
    ['kms:GenerateDataKey', 'UseArchiveKey', /not authorized to perform: kms:GenerateDataKey/],
    ['kms:Sign', 'SignSeals', /not authorized to perform: kms:Sign/],
    ['kms:GetPublicKey', 'SignSeals', /not authorized to perform: kms:GetPublicKey/],
  ])('%s of %s', async (action, sid, message) => {
    const deployed = await deploy((template) => withoutAction(auditPolicy(template), action, withSid(sid)));
    // What is read is a run record.
    if (message.source.startsWith('Reading')) await deployed.invoke(noon);
    expect((await deployed.audit.invoke(event)).error?.errorMessage).toMatch(message);
    expect(await sealsIn(deployed)).toEqual([]);
  });

  it('s3:ListBucket, to the last attempt, and people are told, unless it may not tell of its failures', async () => {
    const withoutList = (template: Template) => without(auditPolicy(template), withSid('ListArchive'));
    const deployed = await deploy(withoutList);
    expect((await deployed.audit.fireSchedule(one)).failure).toBeDefined();
    expect(deployed.messages).toMatchObject([{ body: expect.stringContaining('RetriesExhausted') }]);
    const mute = await deploy((template) => {
      withoutList(template);
      without(auditPolicy(template), withSid('ReportFailures'));
    });
    await expect(mute.audit.fireSchedule(one)).rejects.toMatchObject({ name: 'MessageRefusedError' });
  });
});

describe('a seal that people cannot be told about is there, and the log says so', () => {
  it.each(['sns:Publish', 'kms:GenerateDataKey', 'kms:Decrypt'])('without %s', async (action) => {
    const ofTopic = ({ Sid }: { Sid?: string | undefined }) => Sid === undefined;
    const deployed = await deploy((template) => withoutAction(auditPolicy(template), action, ofTopic));
    expect((await deployed.audit.invoke(event)).error).toBeUndefined();
    expect(await sealsIn(deployed)).toEqual([firstSeal]);
    expect(deployed.messages).toEqual([]);
    const [line] = deployed.logs.filter((text) => text.includes('mail not sent'));
    expect(line).toContain(`not authorized to perform: ${action}`);
    expect(deployed.logs.filter((text) => /"MailsLost":1[,}]/.test(text))).toHaveLength(1);
  });
});

it('without s3:ListBucketVersions the audit still seals, and says that it did not look for deleted seals', async () => {
  const { audit } = await deploy((template) => withoutAction(auditPolicy(template), 's3:ListBucketVersions'));
  expect((await audit.invoke(event)).payload).toMatchObject({ found: { unreadable: 1 } });
});

it('every statement of its role is broken by a test above, but the one that has no effect locally', () => {
  const ofTheTopic = ['sns:Publish', 'kms:Decrypt,kms:GenerateDataKey'];
  const broken = ['ListArchive', 'ReadArchive', 'AddSeals', 'UseArchiveKey', 'SignSeals', 'ReportFailures'];
  expect(statementsOf(auditPolicy(collector.template))).toEqual(['WriteLog', ...broken, ...ofTheTopic].sort());
});

describe('whatever its role allows', () => {
  const everything = { Effect: 'Allow', Action: ['s3:*', 'kms:*'], Resource: '*' } as const;
  const widen = (template: Template) => {
    for (const policy of [auditPolicy(template), collectorPolicy(template)]) policy.Statement.push(everything);
  };
  /** The policy of the key that signs. */
  const keyPolicy = ({ Resources }: Template) =>
    Object.entries(Resources).find(([id]) => id.startsWith('AuditSigningKey'))?.[1].Properties?.KeyPolicy as Statements;

  const as = ({ url, region }: DeployedAudit, credentials: Principal) => ({ endpoint: url, region, credentials });
  const asCollector = (deployed: DeployedAudit) => as(deployed, deployed.definition.role);
  const asAudit = (deployed: DeployedAudit) => as(deployed, deployed.audit.definition.role);
  const put = ({ bucket: Bucket }: DeployedAudit, Key: string) =>
    new PutObjectCommand({ Bucket, Key, Body: '{}', IfNoneMatch: '*' });
  const archived = [
    runRecordKey({ run: one, attempt: 1 }),
    objectKey({ cluster: 'alpha', resource: 'log', run: one }),
    objectKey({ cluster: 'alpha', resource: 'manifest', run: one }),
    `configurations/${'0'.repeat(64)}.json.gz`,
  ];
  const refusal = {
    name: 'AccessDenied',
    message: expect.stringContaining('with an explicit deny in a resource-based policy'),
  };
  const refusalOfKey = { name: 'AccessDeniedException' };

  it.each<[string, string, (deployed: DeployedAudit) => Promise<unknown>[], object]>([
    [
      'the collector does not seal',
      'SealsByAuditOnly',
      (deployed) => [new S3Client(asCollector(deployed)).send(put(deployed, sealKey(2)))],
      refusal,
    ],
    [
      'the audit replaces no seal',
      'OnlyNewSeals',
      (deployed) => {
        const replace = new PutObjectCommand({ Bucket: deployed.bucket, Key: firstSeal, Body: '{}' });
        return [new S3Client(asAudit(deployed)).send(replace)];
      },
      refusal,
    ],
    [
      'the audit deletes nothing',
      'AuditDeletesNothing',
      (deployed) => {
        const remove = new DeleteObjectCommand({ Bucket: deployed.bucket, Key: firstSeal });
        return [new S3Client(asAudit(deployed)).send(remove)];
      },
      refusal,
    ],
    [
      'the audit archives nothing',
      'AuditArchivesNothing',
      (deployed) => archived.map((key) => new S3Client(asAudit(deployed)).send(put(deployed, key))),
      refusal,
    ],
    [
      'the collector does not sign',
      'SignedByAuditOnly',
      (deployed) => {
        const forge = new SignCommand({
          KeyId: deployed.audit.definition.environment.SIGNING_KEY_ARN,
          Message: Buffer.from('a forged seal'),
          MessageType: 'RAW',
          SigningAlgorithm: 'ECDSA_SHA_256',
        });
        return [new KMSClient(asCollector(deployed)).send(forge)];
      },
      refusalOfKey,
    ],
  ])('%s, by the statement %s', async (_what, sid, act, refused) => {
    await Promise.all(act(await deploy(widen)).map((acting) => expect(acting).rejects.toMatchObject(refused)));
    const deployed = await deploy((template) => {
      widen(template);
      without(refused === refusalOfKey ? keyPolicy(template) : bucketPolicy(template), withSid(sid));
    });
    await Promise.all(act(deployed));
  });
});
