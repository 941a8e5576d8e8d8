import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Check, Subject } from './conformance';
import { answerOf, failureOf } from './expect-failure';
import type { RawRequest } from './raw-request';

const Bucket = 'archive';
const hello = Buffer.from('hello');

export const uploadChecks: Readonly<Record<string, Check>> = {
  'refuses a body that does not have the checksum in its header': async (subject) => {
    await refuses(subject, { headers: { 'x-amz-checksum-crc32': 'AAAAAA==' } }, 400, 'BadDigest');
  },

  'refuses a body that does not have the hash that was signed': async (subject) => {
    const payloadHash = createHash('sha256').update('other').digest('hex');
    await refuses(subject, { payloadHash }, 400, 'XAmzContentSHA256Mismatch');
  },

  'takes a stream from the SDK whose checksum is known before': async ({ s3 }) => {
    const Key = randomUUID();
    const parts = [Buffer.alloc(70_000, 'a'), Buffer.from('end')];
    const ChecksumCRC32 = 'KQ+SfQ==';
    await s3.send(
      new PutObjectCommand({
        ...{ Bucket, Key, ChecksumCRC32 },
        Body: Readable.from(parts),
        ContentLength: 70_003,
        ContentEncoding: 'gzip',
      }),
    );
    const got = await s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(await got.Body?.transformToString()).toBe(`${'a'.repeat(70_000)}end`);
    expect(got.ContentEncoding).toBe('gzip');
  },

  'writes nothing of a body that is shorter than its Content-Length': async (subject) => {
    const Key = randomUUID();
    const path = `/${Bucket}/${Key}`;
    const headers = { 'content-length': '10' };
    const answer = await subject.raw.exchange(
      await subject.raw.bytes({ method: 'PUT', path, body: hello, headers, payloadHash: 'UNSIGNED-PAYLOAD' }),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    await isAbsent(subject, Key);
  },

  'does not ask for a body that it will refuse': async ({ raw }) => {
    const path = `/${Bucket}/${randomUUID()}`;
    const put: RawRequest = {
      method: 'PUT',
      path,
      body: hello,
      headers: { expect: '100-continue', 'if-none-match': '*' },
    };
    expect(await raw.send(put)).toMatchObject({ status: 200, wasAsked: true });
    expect(await raw.send(put)).toMatchObject({ status: 412, wasAsked: false });
  },
};

async function refuses(subject: Subject, raw: Partial<RawRequest>, status: number, code: string): Promise<void> {
  const key = randomUUID();
  const answer = await subject.raw.send({ method: 'PUT', path: `/${Bucket}/${key}`, body: hello, ...raw });
  expect(answerOf(answer)).toEqual([status, code]);
  await isAbsent(subject, key);
}

async function isAbsent({ s3 }: Subject, Key: string): Promise<void> {
  expect(await failureOf(s3.send(new HeadObjectCommand({ Bucket, Key })))).toMatchObject({ status: 404 });
}
