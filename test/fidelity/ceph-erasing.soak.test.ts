import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
} from '@aws-sdk/client-s3';
import { findCommand } from '../local/aws/moto-server';
import { onCeph, region } from './ceph';
import { runErase } from './run-erase';

const hasCommands = ['aws', 'jq'].every((name) => findCommand(name) !== undefined);

onCeph('the erasure of docs/keeping.md in Ceph, which has locks', (ceph) => {
  const [Bucket, prefix] = ['locked', 'logs/cluster=a%20uid/'];
  const Key = `${prefix}date=2026-11-20/one`;
  const erase = (...options: string[]) => {
    const { url, admin } = ceph();
    const credentials = { AWS_ACCESS_KEY_ID: admin.accessKeyId, AWS_SECRET_ACCESS_KEY: admin.secretAccessKey };
    return runErase({ AWS_ENDPOINT_URL: url, AWS_DEFAULT_REGION: region, ...credentials }, Bucket, prefix, ...options);
  };
  const left = async () => {
    const { Versions = [], DeleteMarkers = [] } = await ceph().s3.send(new ListObjectVersionsCommand({ Bucket }));
    return [Versions.length, DeleteMarkers.length];
  };

  beforeAll(() => ceph().s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true })));

  (hasCommands ? it : it.skip).each([
    ['GOVERNANCE', true],
    ['COMPLIANCE', false],
  ] as const)('under a lock in mode %s is refused; to bypass it helps: %s', async (Mode, helps) => {
    const { VersionId } = await ceph().s3.send(new PutObjectCommand({ Bucket, Key, Body: 'content' }));
    await ceph().s3.send(new DeleteObjectCommand({ Bucket, Key }));
    expect(await left()).toEqual([1, 1]);
    const Retention = { Mode, RetainUntilDate: new Date(Date.now() + 86_400_000) };
    await ceph().s3.send(new PutObjectRetentionCommand({ Bucket, Key, VersionId, Retention }));
    const refusal = (erased: number) => ({
      status: 1,
      out: [`${erased} erased`],
      err: expect.stringContaining('stopped, refused: AccessDenied'),
    });
    // The marker has no lock.
    expect(await erase()).toMatchObject(refusal(1));
    expect(await left()).toEqual([1, 0]);
    const bypass = await erase('--bypass-governance-retention');
    if (helps)
      expect(bypass).toMatchObject({ status: 0, out: [expect.anything(), expect.stringMatching(/^0 versions/)] });
    else expect(bypass).toMatchObject(refusal(0));
    expect(await left()).toEqual([helps ? 0 : 1, 0]);
  });
});
