import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GetObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { createS3Client } from '../../lambda/aws-clients';
import { S3Archive } from '../../lambda/collect/put/s3-archive';
import { s3Checks } from '../local/aws/conformance';
import { everythingPolicy } from '../local/aws/endpoint-setup';
import { VirtualClock } from '../support/virtual-clock';
import { accountId, onCeph, region } from './ceph';

/** What S3 does and Ceph does not, and why. What passes here has to go from here. */
const notCephs: Readonly<Record<string, string>> = {
  'gives the checksum of an object back': 'Ceph 16 neither checks nor keeps x-amz-checksum-crc32',
};
const ifNoneMatch = 'writes once with If-None-Match: *, and answers 412 the second time';
/** The same in a bucket that keeps versions. */
const notCephsWithVersions: Readonly<Record<string, string>> = {
  ...notCephs,
  [ifNoneMatch]: 'Ceph 16 does not look at If-None-Match where it keeps versions',
};

describe.each([
  [undefined, notCephs],
  ['Enabled', notCephsWithVersions],
] as const)('with versioning %s', (versioning, exceptions) => {
  onCeph('the gateway of Ceph does what the embedded endpoint and moto do: it', (ceph) => {
    beforeAll(() => ceph().makeBucket('archive', versioning));

    for (const [sentence, check] of Object.entries(s3Checks))
      if (sentence in exceptions) it.failing(`${sentence} (not Ceph: ${exceptions[sentence]})`, () => check(ceph()));
      else it(sentence, () => check(ceph()));
  });
});

onCeph('an archive in Ceph, which verifies signatures and keeps no versions,', (ceph) => {
  const Bucket = 'archive';
  const never = new AbortController().signal;
  const archive = (credentials: S3Client['config']['credentials'] | undefined) => {
    const client = createS3Client(16, () => undefined, { endpoint: ceph().url, region, credentials });
    return new S3Archive(client, Bucket, new VirtualClock());
  };

  beforeAll(() => ceph().makeBucket(Bucket));

  it('gives each key to one of those who write it at once, and keeps what that one wrote', async () => {
    const writers = Array.from({ length: 8 }, () => archive(async () => ceph().admin));
    for (let round = 0; round < 150; round += 1) {
      const key = `logs/cluster=a b+%25ü~(1)'*!$&=@;:😀/${round}`;
      const contents = writers.map((_writer, number) => Buffer.from(`${number} `.repeat(1 + ((round * 97) % 9000))));
      const put = (content: Buffer, number: number) =>
        writers[number]?.put({ key, content, contentType: 'text/plain' }, never);
      const said = await Promise.all(contents.map(put));
      expect([...said].sort()).toEqual([...Array(7).fill('already-archived'), 'archived']);
      const stored = await ceph().s3.send(new GetObjectCommand({ Bucket, Key: key }));
      expect(await buffer(stored.Body as Readable)).toEqual(contents[said.indexOf('archived')]);
    }
    expect(await ceph().s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'logs/' }))).toMatchObject({
      KeyCount: 150,
    });
  });

  it('is written with credentials of STS, and not with another secret or another session', async () => {
    const arn = `arn:aws:iam::${accountId}:role/writer`;
    const role = await ceph().admit({ arn, policies: [everythingPolicy] });
    const put = (changes: object) => {
      const content = Buffer.from('content');
      const writer = archive(async () => ({ ...role, ...changes }));
      return writer.put({ key: `runs/${randomUUID()}`, content, contentType: 'text/plain' }, never);
    };
    expect(await put({})).toBe('archived');
    await expect(put({ secretAccessKey: 'another' })).rejects.toThrow('403 SignatureDoesNotMatch');
    const another = await ceph().admit({ arn: `${arn}-2`, policies: [] });
    await expect(put({ sessionToken: another.sessionToken })).rejects.toThrow(/ 403 /);
    await expect(put({ sessionToken: undefined })).rejects.toThrow(/ 403 /);
    await expect(put(another)).rejects.toThrow('403 AccessDenied');
  });
});
