import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { PublishCommand } from '@aws-sdk/client-sns';
import { resourcePolicySchema, rolePolicySchema } from '../../../local/aws/iam/policy-document';
import { conformanceChecks, publicKeyOf, type Subject, signatureOf } from './conformance';
import { accountId, admin, clientsOf, everythingPolicy, region, startEndpoint } from './endpoint-setup';
import { failureOf } from './expect-failure';

const Bucket = 'archive';
const secretArn = `arn:aws:secretsmanager:${region}:${accountId}:secret`;
const secret = { name: 'stage/api-key', arn: `${secretArn}:stage/api-key-AbCdEf`, value: 's3cret' };
const signingKey = `arn:aws:kms:${region}:${accountId}:key/0a1b2c3d-0000-1111-2222-333344445555`;
const topic = `arn:aws:sns:${region}:${accountId}:mails`;

/** May read what it cannot list. */
const reader = { accessKeyId: 'AKIAREADER', secretAccessKey: 'reader-secret' };
const readerPolicy = rolePolicySchema.parse({
  Statement: [
    { Effect: 'Allow', Action: 's3:GetObject', Resource: `arn:aws:s3:::${Bucket}/readable/*` },
    // Only for a listing of this prefix: whether an object is there stays hidden.
    {
      Effect: 'Allow',
      Action: 's3:ListBucket',
      Resource: `arn:aws:s3:::${Bucket}`,
      Condition: { StringLike: { 's3:prefix': 'readable/*' } },
    },
  ],
});

let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let subject: Subject;
let asReader: ReturnType<typeof clientsOf>;

beforeAll(async () => {
  const root = { AWS: `arn:aws:iam::${accountId}:root` };
  const policy = resourcePolicySchema.parse({
    Statement: { Effect: 'Allow', Principal: root, Action: 'kms:*', Resource: '*' },
  });
  endpoint = await startEndpoint({
    principals: [
      { ...admin, arn: `arn:aws:iam::${accountId}:role/admin`, policies: [everythingPolicy] },
      { ...reader, arn: `arn:aws:iam::${accountId}:role/reader`, policies: [readerPolicy] },
    ],
    signingKeys: [
      { arn: signingKey, policy, privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
    ],
    publish: ({ arn }, { to }) =>
      arn.endsWith('role/admin') ? undefined : `not authorized to perform sns:Publish on ${to}`,
    secrets: [secret, { arn: `${secretArn}:empty-AbCdEf` }],
  });
  subject = { ...endpoint, secret, signingKey, topic };
  asReader = clientsOf(endpoint.aws.url, reader);
});

afterAll(() => endpoint.stop());

describe('the embedded endpoint, as moto,', () => {
  it.each(Object.entries(conformanceChecks))('%s', (_sentence, check) => check(subject));
});

it('an upload is refused if its body does not have the checksum that its header says', async () => {
  const Key = randomUUID();
  const put = new PutObjectCommand({ Bucket, Key, Body: 'hello', ChecksumCRC32: 'AAAAAA==' });
  expect(await failureOf(subject.s3.send(put))).toMatchObject({ status: 400, code: 'BadDigest' });
  expect(await failureOf(subject.s3.send(new HeadObjectCommand({ Bucket, Key })))).toMatchObject({ status: 404 });
});

it.each([
  ['an unknown access key', { accessKeyId: 'AKIAUNKNOWN' }, 403, 'InvalidAccessKeyId'],
  ['a wrong session token', { sessionToken: 'another' }, 400, 'InvalidToken'],
])('a call with %s is refused', async (_what, credentials, status, code) => {
  const { s3 } = clientsOf(endpoint.aws.url, { ...admin, ...credentials });
  expect(await failureOf(s3.send(new GetObjectCommand({ Bucket, Key: 'absent' })))).toMatchObject({ status, code });
});

describe('a caller without the permission', () => {
  it('to list does not hear whether an object is there', async () => {
    const Key = `readable/${randomUUID()}`;
    const denied = { status: 403, code: 'AccessDenied' };
    expect(await failureOf(asReader.s3.send(new GetObjectCommand({ Bucket, Key })))).toMatchObject(denied);
    expect(await failureOf(asReader.s3.send(new HeadObjectCommand({ Bucket, Key })))).toMatchObject({ status: 403 });
    await subject.s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
    expect((await asReader.s3.send(new GetObjectCommand({ Bucket, Key }))).ContentLength).toBe(1);
  });

  it.each([
    ['Sign', signatureOf],
    ['GetPublicKey', publicKeyOf],
  ])('kms:%s is refused, in the words of KMS', async (action, call) => {
    expect(await failureOf(call({ kms: asReader.kms, signingKey }))).toMatchObject({
      status: 400,
      code: 'AccessDeniedException',
      message: expect.stringContaining(`not authorized to perform: kms:${action} on resource: ${signingKey}`),
    });
  });

  it('to publish is refused, in the words of SNS', async () => {
    const publish = asReader.sns.send(new PublishCommand({ TopicArn: topic, Message: 'text' }));
    expect(await failureOf(publish)).toMatchObject({ status: 403, code: 'AuthorizationErrorException' });
  });
});

it.each([
  ['absent', "Secrets Manager can't find the specified secret."],
  ['empty', "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT"],
])('a secret that is %s is not found', async (SecretId, message) => {
  const failure = await failureOf(subject.secrets.send(new GetSecretValueCommand({ SecretId })));
  expect(failure).toEqual({ status: 400, code: 'ResourceNotFoundException', message });
});

it.each([
  ['a subject that is long', { Subject: 'x'.repeat(101) }],
  ['a subject of two lines', { Subject: 'two\nlines' }],
  ['a subject outside of ASCII', { Subject: 'größer' }],
  ['a subject that begins with a space', { Subject: ' begins' }],
  ['no text', { Message: '' }],
])('a message with %s is refused', async (_what, input) => {
  const publish = subject.sns.send(new PublishCommand({ TopicArn: topic, Message: 'text', ...input }));
  expect(await failureOf(publish)).toMatchObject({ status: 400, code: 'InvalidParameterException' });
});
