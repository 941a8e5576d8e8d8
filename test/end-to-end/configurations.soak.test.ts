import { LocalCollector } from './local-collector';

const noon = new Date('2026-11-20T12:00:00Z');
const kmsKeyArn = 'arn:aws:kms:eu-central-1:111122223333:key/0a1b2c3d-0000-1111-2222-333344445555';

let collector: LocalCollector | undefined;

afterEach(() => collector?.close());

it.each<[string, Record<string, unknown>]>([
  ['a customer key of its own', { archive: { kms: true } }],
  ['a given customer key', { archive: { kms: kmsKeyArn } }],
  ['an existing secret', { apiKeySecret: 'platform/api-key' }],
  ['an existing secret under a customer key', { apiKeySecret: { name: 'platform/api-key', kmsKeyArn } }],
  [
    'retention, alerts and shared test events',
    {
      archive: { retentionDays: 400, objectLock: { days: 30 } },
      alerts: { page: { emails: ['somebody@example.com'] } },
      tags: { team: 'platform' },
    },
  ],
  [
    'a copy in another account',
    { archive: { replicateTo: { bucketArn: 'arn:aws:s3:::copies', account: '222222222222' } } },
  ],
  [
    'an existing topic under a customer key',
    { alerts: { page: { topicArn: 'arn:aws:sns:eu-central-1:111122223333:on-call', kmsKeyArn } } },
  ],
  ['an account and a region of its own', { deployTo: { account: '444455556666', region: 'us-west-2' } }],
  ['former keys', { archive: { kms: true, formerKmsKeyArns: [kmsKeyArn] } }],
  [
    'a VPC',
    {
      network: {
        subnetIds: ['subnet-0123456789abcdef0'],
        securityGroupIds: ['sg-0123456789abcdef0'],
      },
    },
  ],
])('a stack with %s collects everything', async (_name, overrides) => {
  collector = await new LocalCollector(overrides).start();
  const deployed = await collector.deploy();
  const { attempts } = await deployed.fireSchedule(noon);
  expect(attempts).toEqual([expect.objectContaining({ payload: expect.objectContaining({ status: 'complete' }) })]);
});
