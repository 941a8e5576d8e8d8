import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Check, Subject } from './conformance';
import { answerOf, failureOf } from './expect-failure';
import type { RawRequest } from './raw-request';
import { signedChunks, unsignedChunks } from './s3/aws-chunks';

const hello = Buffer.from('hello');
const algorithms = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;

export const uploadChecks: Readonly<Record<string, Check>> = {
  'takes the checksum of every algorithm, and gives it back': async ({ s3, bucket: Bucket }) => {
    for (const ChecksumAlgorithm of algorithms) {
      const put = await s3.send(new PutObjectCommand({ Bucket, Key: randomUUID(), Body: 'hello', ChecksumAlgorithm }));
      expect(put[`Checksum${ChecksumAlgorithm}`]).toMatch(/^[A-Za-z0-9+/]+=*$/);
    }
  },

  'refuses a body that is not of the checksum in its header': async (subject) => {
    await refuses(subject, { headers: { 'x-amz-checksum-crc32': 'AAAAAA==' } }, 400, 'BadDigest');
    await refuses(subject, { headers: { 'x-amz-checksum-crc64nvme': 'AAAAAAAAAAA=' } }, 400, 'BadDigest');
    const sha256 = createHash('sha256').update('other').digest('base64');
    await refuses(subject, { headers: { 'x-amz-checksum-sha256': sha256 } }, 400, 'BadDigest');
  },

  'refuses a checksum that can be none': async (subject) => {
    await refuses(subject, { headers: { 'x-amz-checksum-crc32': 'AAAA' } }, 400, 'InvalidRequest');
    await refuses(subject, { headers: { 'x-amz-checksum-sha1': 'no base64!' } }, 400, 'InvalidRequest');
  },

  'refuses two checksums': async (subject) => {
    const headers = { 'x-amz-checksum-crc32': 'NhCmhg==', 'x-amz-checksum-crc32c': 'mnG7TA==' };
    await refuses(subject, { headers }, 400, 'InvalidRequest');
  },

  'refuses a checksum that was announced and not sent': async (subject) => {
    await refuses(subject, { headers: { 'x-amz-sdk-checksum-algorithm': 'CRC32' } }, 400, 'InvalidRequest');
  },

  'refuses a body that is not of its Content-MD5': async (subject) => {
    await refuses(subject, { headers: { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' } }, 400, 'BadDigest');
    await refuses(subject, { headers: { 'content-md5': 'AAAA' } }, 400, 'InvalidDigest');
  },

  'refuses a body that is not of the hash that was signed': async (subject) => {
    const payloadHash = createHash('sha256').update('other').digest('hex');
    await refuses(subject, { payloadHash }, 400, 'XAmzContentSHA256Mismatch');
  },

  'takes a stream from the SDK, with its checksum behind it': async ({ s3, bucket: Bucket }) => {
    const Key = randomUUID();
    const Body = Readable.from([Buffer.alloc(70_000, 'a'), Buffer.from('end')]);
    await s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: 70_003, ContentEncoding: 'gzip' }));
    const got = await s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(await got.Body?.transformToString()).toBe(`${'a'.repeat(70_000)}end`);
    expect(got.ContentEncoding).toBe('gzip');
  },

  'refuses chunks that are too small, as a stream of small parts makes them': async ({ s3, bucket: Bucket }) => {
    const Body = Readable.from([Buffer.alloc(8191), Buffer.from('end')]);
    const put = s3.send(new PutObjectCommand({ Bucket, Key: randomUUID(), Body, ContentLength: 8194 }));
    expect(await failureOf(put)).toMatchObject({ status: 403, code: 'InvalidChunkSizeError' });
  },

  'refuses a chunked body that is not of the checksum behind it': async (subject) => {
    const body = unsignedChunks([hello], 'x-amz-checksum-crc32:AAAAAA==');
    await refuses(subject, chunked(body, 5), 400, 'BadDigest');
  },

  'refuses a chunked body without the checksum it announced': async (subject) => {
    const body = Buffer.from('5\r\nhello\r\n0\r\n\r\n');
    await refuses(subject, chunked(body, 5), 400, 'MalformedTrailerError');
  },

  'refuses a chunked body of another length than it announced': async (subject) => {
    const body = unsignedChunks([hello], 'x-amz-checksum-crc32:NhCmhg==');
    await refuses(subject, chunked(body, 6), 400, 'IncompleteBody');
    await refuses(subject, chunked(body, 4), 400, 'IncompleteBody');
  },

  'refuses a chunked body that ends in a chunk': async (subject) => {
    await refuses(subject, chunked(Buffer.from('2000\r\nhello'), 5), 400, 'IncompleteBody');
    await refuses(subject, chunked(Buffer.from('no chunk at all'), 5), 400, 'IncompleteBody');
  },

  'takes signed chunks, with a checksum behind them and without': async (subject) => {
    for (const trailer of [undefined, 'x-amz-checksum-crc32:G5dAfw==']) {
      const { request, key } = await signedUpload(subject, trailer, (body) => body);
      expect(answerOf(await subject.raw.send(request))).toEqual([200, '']);
      const got = await subject.s3.send(new GetObjectCommand({ Bucket: subject.bucket, Key: key }));
      expect(await got.Body?.transformToString()).toBe(`${'a'.repeat(9000)}hello`);
    }
  },

  'refuses chunks that were changed after they were signed': async (subject) => {
    const change = (body: Buffer) => Buffer.from(body.toString('latin1').replace('hello', 'jello'), 'latin1');
    for (const trailer of [undefined, 'x-amz-checksum-crc32:G5dAfw==']) {
      const { request, key } = await signedUpload(subject, trailer, change);
      expect(answerOf(await subject.raw.send(request))).toEqual([403, 'SignatureDoesNotMatch']);
      await isAbsent(subject, key);
    }
  },

  'refuses a checksum behind signed chunks that is not signed': async (subject) => {
    const change = (body: Buffer) =>
      Buffer.from(body.toString('latin1').replace(/(?<=trailer-signature:)\w{4}/, '0000'), 'latin1');
    const { request, key } = await signedUpload(subject, 'x-amz-checksum-crc32:G5dAfw==', change);
    expect(answerOf(await subject.raw.send(request))).toEqual([403, 'SignatureDoesNotMatch']);
    await isAbsent(subject, key);
  },

  'writes nothing of a body that is shorter than its Content-Length': async (subject) => {
    const Key = randomUUID();
    const path = `/${subject.bucket}/${Key}`;
    const headers = { 'content-length': '10' };
    const answer = await subject.raw.exchange(
      await subject.raw.bytes({ method: 'PUT', path, body: hello, headers, payloadHash: 'UNSIGNED-PAYLOAD' }),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('<Code>IncompleteBody</Code>');
    await isAbsent(subject, Key);
  },

  'asks for a body only once it is wanted': async ({ raw, bucket }) => {
    const path = `/${bucket}/${randomUUID()}`;
    const put: RawRequest = {
      method: 'PUT',
      path,
      body: hello,
      headers: { expect: '100-continue', 'if-none-match': '*' },
    };
    expect(await raw.send(put)).toMatchObject({ status: 200, wasAsked: true });
    expect(await raw.send(put)).toMatchObject({ status: 412, wasAsked: false });
  },

  'wants to know the length of a body': async ({ raw, bucket }) => {
    const bytes = await raw.bytes({
      method: 'PUT',
      path: `/${bucket}/${randomUUID()}`,
      payloadHash: 'UNSIGNED-PAYLOAD',
      headers: { 'transfer-encoding': 'chunked' },
    });
    const answer = await raw.exchange(Buffer.concat([bytes, Buffer.from('5\r\nhello\r\n0\r\n\r\n')]));
    expect(answer).toMatch(/^HTTP\/1\.1 411 .*<Code>MissingContentLength</s);
  },
};

function chunked(body: Buffer, decodedLength: number): Partial<RawRequest> {
  return {
    body,
    payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    headers: {
      'content-encoding': 'aws-chunked',
      'x-amz-decoded-content-length': `${decodedLength}`,
      'x-amz-trailer': 'x-amz-checksum-crc32',
    },
  };
}

/** `aaa…hello` in two chunks. */
async function signedUpload(
  { raw, bucket, region, credentials }: Subject,
  trailer: string | undefined,
  change: (body: Buffer) => Buffer,
): Promise<{ request: RawRequest; key: string }> {
  const key = randomUUID();
  const signingDate = new Date();
  const unsigned: RawRequest = {
    method: 'PUT',
    path: `/${bucket}/${key}`,
    signingDate,
    payloadHash: `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${trailer === undefined ? '' : '-TRAILER'}`,
    headers: {
      'content-encoding': 'aws-chunked',
      'x-amz-decoded-content-length': '9005',
      ...(trailer !== undefined && { 'x-amz-trailer': 'x-amz-checksum-crc32' }),
    },
  };
  const signed = await raw.sign(unsigned);
  const seed = /Signature=(.*)$/.exec(signed.authorization ?? '')?.[1] ?? '';
  const chain = { secretAccessKey: credentials.secretAccessKey, region, stamp: signed['x-amz-date'] ?? '', seed };
  const body = change(signedChunks([Buffer.alloc(9000, 'a'), hello], chain, trailer));
  return { request: { ...unsigned, body }, key };
}

async function refuses(subject: Subject, raw: Partial<RawRequest>, status: number, code: string): Promise<void> {
  const key = randomUUID();
  const answer = await subject.raw.send({ method: 'PUT', path: `/${subject.bucket}/${key}`, body: hello, ...raw });
  expect(answerOf(answer)).toEqual([status, code]);
  await isAbsent(subject, key);
}

async function isAbsent({ s3, bucket: Bucket }: Subject, Key: string): Promise<void> {
  expect(await failureOf(s3.send(new HeadObjectCommand({ Bucket, Key })))).toMatchObject({ status: 404 });
}
