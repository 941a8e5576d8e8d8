import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { Readable } from 'node:stream';
import { GetPublicKeyCommand, SignCommand } from '@aws-sdk/client-kms';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { PublishCommand } from '@aws-sdk/client-sns';
import type { clientsOf } from './endpoint-setup';
import { failureOf } from './expect-failure';

/** What is checked: the embedded endpoint or moto, set up in the same way. The bucket `archive` has no policy. */
export interface Subject extends ReturnType<typeof clientsOf> {
  /** Has a value. */
  readonly secret: { readonly name: string; readonly arn: string; readonly value: string };
  /** ARN of a key of KMS: ECC_NIST_P256, SIGN_VERIFY. */
  readonly signingKey: string;
  readonly topic: string;
}

const Bucket = 'archive';
const names = ['a', 'a-b/1', 'a.b', 'b/1', 'b/2', 'b/c/3', 'b/c/4', 'b0', 'c d+é/5', 'z'];

/** What a seal has signed: its hash, as text. */
const message = Buffer.from('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08');

type SubjectOfS3 = Pick<Subject, 's3'>;
type Checks<Of> = Readonly<Record<string, (subject: Of) => Promise<void>>>;

/** Of what S3 does, that which others do too: by a sentence, with what fails if the subject does not. */
export const s3Checks: Checks<SubjectOfS3> = {
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
    const got = await s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(await got.Body?.transformToString()).toBe('hello');
    const ETag = '"5d41402abc4b2a76b9719d911017c592"';
    expect(put).toMatchObject({ ETag });
    const headers = { ContentLength: 5, ContentType: 'application/json', ContentEncoding: 'gzip' };
    expect(got).toMatchObject({ ETag, ...headers, Metadata: { 'cluster-uid': 'a%20b' } });
    expect(Math.abs(Date.now() - (got.LastModified?.getTime() ?? 0))).toBeLessThan(60_000);
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key }));
    expect(head).toMatchObject({ ContentLength: 5, ETag });
  },

  'gives the checksum of an object back': async ({ s3 }) => {
    const Key = randomUUID();
    const ChecksumCRC32 = 'NhCmhg==';
    expect(await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'hello' }))).toMatchObject({ ChecksumCRC32 });
    const got = await s3.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
    expect(await got.Body?.transformToString()).toBe('hello');
    expect(got).toMatchObject({ ChecksumCRC32 });
  },

  'takes a stream from the SDK whose checksum is known before': async ({ s3 }) => {
    const Key = randomUUID();
    const Body = Readable.from([Buffer.alloc(70_000, 'a'), Buffer.from('end')]);
    const ChecksumCRC32 = 'KQ+SfQ==';
    await s3.send(new PutObjectCommand({ Bucket, Key, ChecksumCRC32, Body, ContentLength: 70_003 }));
    const got = await s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(await got.Body?.transformToString()).toBe(`${'a'.repeat(70_000)}end`);
  },

  'writes once with If-None-Match: *, and answers 412 the second time': async ({ s3 }) => {
    const Key = randomUUID();
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'first', IfNoneMatch: '*' }));
    const again = s3.send(new PutObjectCommand({ Bucket, Key, Body: 'second', IfNoneMatch: '*' }));
    expect(await failureOf(again)).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    const got = await s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(await got.Body?.transformToString()).toBe('first');
  },

  'answers 404 for an object and for a bucket that are not there': async ({ s3 }) => {
    const Key = randomUUID();
    const get = s3.send(new GetObjectCommand({ Bucket, Key }));
    expect(await failureOf(get)).toMatchObject({ status: 404, code: 'NoSuchKey' });
    expect(await failureOf(s3.send(new HeadObjectCommand({ Bucket, Key })))).toMatchObject({ status: 404 });
    const elsewhere = s3.send(new GetObjectCommand({ Bucket: 'no-such-bucket-here', Key }));
    expect(await failureOf(elsewhere)).toMatchObject({ status: 404, code: 'NoSuchBucket' });
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

  'lists the keys under a prefix in the order of their bytes': async (subject) => {
    const sorted = ['B', 'b-x', 'b.x', 'b/x', 'b0', 'é', '\uFF5E', '\u{1F600}'];
    const prefix = await fill(subject, sorted.toReversed());
    const { Contents, KeyCount, IsTruncated } = await list(subject, { Prefix: prefix });
    expect(Contents?.map(({ Key }) => Key?.slice(prefix.length))).toEqual(sorted);
    expect([KeyCount, IsTruncated]).toEqual([8, false]);
    expect(await list(subject, { Prefix: randomUUID() })).toMatchObject({ KeyCount: 0, IsTruncated: false });
  },

  'finds keys by a prefix that ends within a name, behind a key, and in pages of any size': async (subject) => {
    const prefix = await fill(subject, names);
    const found = async (input: Omit<ListObjectsV2CommandInput, 'Bucket'>) =>
      (await seen(subject, input)).map((key) => key.slice(prefix.length));
    expect(await found({ Prefix: `${prefix}b` })).toEqual(['b/1', 'b/2', 'b/c/3', 'b/c/4', 'b0']);
    expect(await found({ Prefix: prefix, StartAfter: `${prefix}b/c/3` })).toEqual(['b/c/4', 'b0', 'c d+é/5', 'z']);
    for (const MaxKeys of [1, 2, 3, 7, 10]) expect(await found({ Prefix: prefix, MaxKeys })).toEqual(names);
  },

  'gives names up to a delimiter, each once, in pages': async (subject) => {
    const prefix = await fill(subject, names);
    const below = [...new Set(names.map((name) => /^[^/]*\/?/.exec(name)?.[0] ?? ''))].sort();
    for (const MaxKeys of [1, 2, 100]) {
      const found = await seen(subject, { Prefix: prefix, Delimiter: '/', MaxKeys });
      expect(found.map((name) => name.slice(prefix.length)).sort()).toEqual(below);
    }
    expect((await list(subject, { Prefix: prefix, Delimiter: '/', StartAfter: `${prefix}b0` })).KeyCount).toBe(2);
  },
};

/** The same of all services that the product uses. */
export const conformanceChecks: Checks<Subject> = {
  ...s3Checks,

  'gives a secret by its name, its ARN, and its ARN without the last characters': async ({ secrets, secret }) => {
    for (const SecretId of [secret.name, secret.arn, secret.arn.replace(/-[^-]{6}$/, '')]) {
      const got = await secrets.send(new GetSecretValueCommand({ SecretId }));
      expect(got).toMatchObject({ SecretString: secret.value, Name: secret.name, ARN: secret.arn });
    }
  },

  'signs a message, and gives the public key as SPKI with which node:crypto verifies it': async (subject) => {
    const key = createPublicKey({ key: await publicKeyOf(subject), format: 'der', type: 'spki' });
    const signature = await signatureOf(subject);
    expect(verify('sha256', message, key, signature)).toBe(true);
    expect(verify('sha256', Buffer.from('another'), key, signature)).toBe(false);
  },

  'answers NotFoundException for a key that is not there': async (subject) => {
    const signingKey = subject.signingKey.replace(/key\/.*/, 'key/11111111-2222-3333-4444-555555555555');
    const sign = signatureOf({ ...subject, signingKey });
    expect(await failureOf(sign)).toMatchObject({ status: 400, code: 'NotFoundException' });
  },

  'takes a message with a subject, and gives it an identifier': async ({ sns, topic }) => {
    const mail = { TopicArn: topic, Subject: 'OK: 4 of 4 runs complete', Message: 'Zeile 1\nline 2 & <3> ü' };
    const { MessageId } = await sns.send(new PublishCommand(mail));
    expect(MessageId).toMatch(/^[0-9a-f-]{36}$/);
  },
};

async function fill({ s3 }: SubjectOfS3, keys: readonly string[]): Promise<string> {
  const prefix = `${randomUUID()}/`;
  await Promise.all(keys.map((key) => s3.send(new PutObjectCommand({ Bucket, Key: prefix + key, Body: key }))));
  return prefix;
}

function list({ s3 }: SubjectOfS3, input: Omit<ListObjectsV2CommandInput, 'Bucket'>) {
  return s3.send(new ListObjectsV2Command({ Bucket, ...input }));
}

/** The keys on all pages, with a delimiter common prefixes too. */
async function seen(subject: SubjectOfS3, input: Omit<ListObjectsV2CommandInput, 'Bucket'>): Promise<string[]> {
  const found: string[] = [];
  for (let ContinuationToken: string | undefined; ; ) {
    const page = await list(subject, { ...input, ContinuationToken });
    found.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ''));
    found.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix ?? ''));
    expect(page.KeyCount).toBeLessThanOrEqual(input.MaxKeys ?? 1000);
    ContinuationToken = page.NextContinuationToken;
    if (!page.IsTruncated || ContinuationToken === undefined) return found;
  }
}

type KeyOfKms = Pick<Subject, 'kms' | 'signingKey'>;

export async function signatureOf({ kms, signingKey: KeyId }: KeyOfKms): Promise<Uint8Array> {
  const algorithm = { KeyId, SigningAlgorithm: 'ECDSA_SHA_256' } as const;
  const answer = await kms.send(new SignCommand({ ...algorithm, Message: message, MessageType: 'RAW' }));
  expect(answer).toMatchObject(algorithm);
  return answer.Signature ?? new Uint8Array();
}

export async function publicKeyOf({ kms, signingKey }: KeyOfKms): Promise<Buffer> {
  const answer = await kms.send(new GetPublicKeyCommand({ KeyId: signingKey }));
  expect(answer).toMatchObject({ KeyUsage: 'SIGN_VERIFY', SigningAlgorithms: ['ECDSA_SHA_256'] });
  return Buffer.from(answer.PublicKey ?? []);
}
