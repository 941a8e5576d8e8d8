import { everything, kmsKeyArn, type Resource, topicArn } from './example-stack';
import { knownIds, losses, replacingProperties, type Stateful, statefulWith } from './template-pairs';

const replacing = replacingProperties();
const bucketArn = 'arn:aws:s3:::copies';

/**
 * Configurations of one stack, with the two ends. Together they have every option with and without a value: a synthesis
 * takes longer than to look for what several options at once would change.
 */
const configurations: readonly Record<string, unknown>[] = [
  {},
  everything,
  { archive: { kms: true }, network: everything.network, shards: 8 },
  { archive: { kms: kmsKeyArn }, tags: { team: 'another' } },
  { archive: { objectLock: { days: 1 } }, apiKeySecret: 'platform/clusters' },
  { archive: { objectLock: { days: 2, mode: 'compliance' } }, alerts: { page: { emails: ['night@example.com'] } } },
  {
    archive: { retentionDays: 400 },
    alerts: { page: { topicArn } },
    schedule: { expression: 'cron(0 3 * * ? *)', enabled: false },
  },
  {
    archive: { formerKmsKeyArns: [kmsKeyArn] },
    alerts: { page: { topicArn }, inform: { emails: ['day@example.com'] } },
  },
  { archive: { readers: everything.archive.readers } },
  { alerts: { page: { emails: ['night@example.com'] }, pageFrom: { missingPercent: 5 } } },
  { archive: { replicateTo: { bucketArn } }, limits: { concurrency: 64, maxBodyMiB: 100, oneRunAtATime: true } },
  {
    audit: { ...everything.audit, signingKeyArn: kmsKeyArn },
    deployTo: { account: '111111111111', region: 'eu-central-1' },
  },
];

describe('an update from any configuration to any other', () => {
  it('replaces and deletes nothing that holds something', () => {
    const templates = configurations.map(statefulWith);
    expect(losses(templates, replacing)).toEqual([]);
    expect([...new Set(templates.flatMap((template) => [...template.keys()]))].sort()).toEqual(knownIds);
  });
});

describe('a loss', () => {
  const plain = statefulWith({});
  const id = 'ArchiveBucket49F1AC64';
  const bucket = plain.get(id) as Resource;
  const without = new Map([...plain].filter(([name]) => name !== id));
  const changed = (members: object): Stateful => new Map([...plain, [id, { ...bucket, ...members }]]);

  it.each<[string, Stateful[], string[]]>([
    [
      'a bucket that can no longer lock, and gets another name',
      [plain, changed({ Properties: { ...bucket.Properties, ObjectLockEnabled: false, BucketName: 'another' } })],
      ['BucketName', 'ObjectLockEnabled'].map((name) => `${id} is replaced, because ${name} changes`),
    ],
    [
      'a bucket that goes away and is not retained',
      [changed({ DeletionPolicy: 'Delete' }), without],
      [`${id} is deleted`],
    ],
    ['not one that is', [plain, without], []],
    ['a bucket that becomes a queue', [plain, changed({ Type: 'AWS::SQS::Queue' })], [`${id} becomes another type`]],
  ])('is noticed: %s', (_, templates, expected) => {
    expect(losses(templates, replacing).sort()).toEqual(expected);
  });

  it('is judged by what CloudFormation documents', () => {
    expect(replacing.get('AWS::S3::Bucket')).toEqual(expect.arrayContaining(['BucketName', 'ObjectLockEnabled']));
    expect(replacing.get('AWS::S3::Bucket')).not.toContain('ObjectLockConfiguration');
    expect(replacing.get('AWS::SNS::Topic')).toContain('TopicName');
  });
});
