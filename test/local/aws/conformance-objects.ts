import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Check } from './conformance';
import { failureOf } from './expect-failure';

const Bucket = 'archive';
export const objectChecks: Readonly<Record<string, Check>> = {
  'gives an object back as it was put, with its headers': async ({ s3 }) => {
    const Key = `${randomUUID()}/cluster=a b+c%25é(1)/x.json.gz`;
    const put = await s3.send(
      new PutObjectCommand({
        Bucket,
        Key,
        Body: 'hello',
        ContentType: 'application/json',
        ContentEncoding: 'gzip',
        Metadata: { 'cluster-uid': 'a%20b', state: '' },
      }),
    );
    const got = await s3.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
    expect(put.ETag).toBe('"5d41402abc4b2a76b9719d911017c592"');
    expect(put.ChecksumCRC32).toBe('NhCmhg==');
    expect(got.ETag).toBe(put.ETag);
    expect(await got.Body?.transformToString()).toBe('hello');
    expect(got.ContentLength).toBe(5);
    expect(got.ContentType).toBe('application/json');
    expect(got.ContentEncoding).toBe('gzip');
    expect(got.Metadata).toMatchObject({ 'cluster-uid': 'a%20b' });
    expect(got.ChecksumCRC32).toBe('NhCmhg==');
    expect(Math.abs(Date.now() - (got.LastModified?.getTime() ?? 0))).toBeLessThan(60_000);
  },

  'answers a HEAD with the headers of the object': async ({ s3 }) => {
    const Key = randomUUID();
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'hello' }));
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key }));
    expect(head.ContentLength).toBe(5);
    expect(head.ETag).toBe('"5d41402abc4b2a76b9719d911017c592"');
  },

  'writes once with If-None-Match: *, and answers 412 the second time': async ({ s3 }) => {
    const Key = randomUUID();
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'first', IfNoneMatch: '*' }));
    const again = s3.send(new PutObjectCommand({ Bucket, Key, Body: 'second', IfNoneMatch: '*' }));
    expect(await failureOf(again)).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    const got = await s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(await got.Body?.transformToString()).toBe('first');
  },

  'answers 404 for an object that is not there': async ({ s3 }) => {
    const Key = randomUUID();
    const get = s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(await failureOf(get)).toMatchObject({ status: 404, code: 'NoSuchKey' });
    expect(await failureOf(s3.send(new HeadObjectCommand({ Bucket, Key })))).toMatchObject({ status: 404 });
  },

  'answers 404 for a bucket that is not there': async ({ s3 }) => {
    const get = s3.send(new GetObjectCommand({ Bucket: 'no-such-bucket-here', Key: 'a' }));
    expect(await failureOf(get)).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  },

  'deletes an object, and one that is not there': async ({ s3 }) => {
    const Key = randomUUID();
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
    for (let i = 0; i < 2; i += 1) {
      const deleted = await s3.send(new DeleteObjectCommand({ Bucket, Key }));
      expect(deleted.$metadata.httpStatusCode).toBe(204);
    }
    expect(await failureOf(s3.send(new HeadObjectCommand({ Bucket, Key })))).toMatchObject({ status: 404 });
  },

  'takes a key of 1024 bytes, and none longer': async ({ s3 }) => {
    const Key = `${randomUUID()}/${'é'.repeat(493)}x`;
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
    await s3.send(new HeadObjectCommand({ Bucket, Key }));
    const longer = s3.send(new PutObjectCommand({ Bucket, Key: `${Key}x`, Body: 'x' }));
    expect(await failureOf(longer)).toMatchObject({ status: 400, code: 'KeyTooLongError' });
  },

  'takes user metadata of 2 KB, and no more': async ({ s3 }) => {
    const put = (length: number) =>
      s3.send(new PutObjectCommand({ Bucket, Key: randomUUID(), Body: 'x', Metadata: { key: 'v'.repeat(length) } }));
    await put(2045);
    expect(await failureOf(put(2046))).toMatchObject({ status: 400, code: 'MetadataTooLarge' });
  },
};
