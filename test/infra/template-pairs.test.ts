import { everything, kmsKeyArn, type Resource, topicArn } from './example-stack';
import { combinations, knownIds, losses, replacingProperties, type Stateful, statefulWith } from './template-pairs';

const replacing = replacingProperties();
const bucketArn = 'arn:aws:s3:::copies';

/** Configurations of one stack that differ from the shipped one in one thing, and the two ends. */
const configurations: readonly Record<string, unknown>[] = [
  {},
  everything,
  { archive: { kms: true } },
  { archive: { kms: kmsKeyArn } },
  { archive: { objectLock: { days: 1 } } },
  { archive: { objectLock: { days: 2, mode: 'compliance' } } },
  { archive: { retentionDays: 400 } },
  { archive: { compression: 'zstd', formerKmsKeyArns: [kmsKeyArn] } },
  { archive: { replicateTo: { bucketArn } } },
  { network: everything.network },
  { shards: 8 },
  { alerts: { emails: ['night@example.com'] } },
  { alerts: { topicArn } },
  { alerts: { page: { topicArn }, inform: { emails: ['day@example.com'] } } },
  { apiKeySecret: 'platform/clusters' },
  { schedule: { expression: 'cron(0 3 * * ? *)', enabled: false } },
  { tags: { team: 'another' } },
  { audit: everything.audit },
  { athenaTables: true },
  { testEvents: true },
  { limits: { concurrency: 64, maxBodyMiB: 100, oneRunAtATime: true } },
  { deployTo: { account: '111111111111', region: 'eu-central-1' } },
];

/** The resources with one of them changed. */
function changed(resources: Stateful, id: string, change: (resource: Resource) => Resource): Stateful {
  const resource = resources.get(id);
  if (resource === undefined) throw new Error(`there is no ${id}`);
  return new Map([...resources, [id, change(resource)]]);
}

describe('an update from any configuration to any other', () => {
  it('replaces and deletes nothing that holds something', () => {
    const templates = configurations.map(statefulWith);
    const pairs = templates.flatMap((from) => templates.filter((to) => to !== from).map((to) => [from, to] as const));
    expect(pairs).toHaveLength(462);
    expect(pairs.flatMap(([from, to]) => losses(from, to, replacing))).toEqual([]);
    expect([...new Set(templates.flatMap((template) => [...template.keys()]))].sort()).toEqual(knownIds);
  });
});

describe('a loss', () => {
  const plain = statefulWith({});
  const bucket = 'ArchiveBucket49F1AC64';

  it.each([
    ['a bucket that can no longer lock', { ObjectLockEnabled: false }, /^ArchiveBucket.* ObjectLockEnabled changes$/],
    ['a bucket with another name', { BucketName: 'another' }, /^ArchiveBucket.* BucketName changes$/],
  ])('is noticed: %s', (_, properties, expected) => {
    const other = changed(plain, bucket, (resource) => ({
      ...resource,
      Properties: { ...resource.Properties, ...properties },
    }));
    expect(losses(plain, other, replacing)).toEqual([expect.stringMatching(expected)]);
  });

  it('is noticed: a bucket that goes away and is not retained', () => {
    const careless = changed(plain, bucket, (resource) => ({ ...resource, DeletionPolicy: 'Delete' }));
    const without = new Map([...plain].filter(([name]) => name !== bucket));
    expect(losses(careless, without, replacing)).toEqual([`${bucket} is deleted`]);
    expect(losses(plain, without, replacing)).toEqual([]);
  });

  it('is judged by what CloudFormation documents', () => {
    expect(replacing.get('AWS::S3::Bucket')).toEqual(expect.arrayContaining(['BucketName', 'ObjectLockEnabled']));
    expect(replacing.get('AWS::S3::Bucket')).not.toContain('ObjectLockConfiguration');
    expect(replacing.get('AWS::SNS::Topic')).toContain('TopicName');
  });
});

describe('combinations', () => {
  it('are all of them', () => {
    const archive = [{}, { archive: { kms: true } }];
    const lock = [{}, { archive: { objectLock: { days: 1 } } }];
    expect(combinations([archive, lock])).toEqual([
      {},
      { archive: { objectLock: { days: 1 } } },
      { archive: { kms: true } },
      { archive: { kms: true, objectLock: { days: 1 } } },
    ]);
  });
});
