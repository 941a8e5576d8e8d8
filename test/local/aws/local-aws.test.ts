import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  type GetObjectCommandInput,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import type { LoggedRequest } from '../../../local/aws/aws-endpoint';
import { startEndpoint } from './endpoint-setup';
import { failureOf } from './expect-failure';

let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let logged: LoggedRequest[];

beforeEach(async () => {
  logged = [];
  endpoint = await startEndpoint({
    onRequest: (request) => logged.push(request),
  });
});

afterEach(() => endpoint.stop());

const put = (Key = 'a', Body = 'hello') =>
  endpoint.s3.send(new PutObjectCommand({ Bucket: 'archive', Key, Body, IfNoneMatch: '*' }));

const keys = async (): Promise<unknown[]> => {
  const { Contents = [] } = await endpoint.s3.send(new ListObjectsV2Command({ Bucket: 'archive' }));
  return Contents.map(({ Key }) => Key);
};

describe('the log of calls', () => {
  it('names the call and the answer', async () => {
    await put('logs/a');
    await failureOf(put('logs/a'));
    await failureOf(endpoint.secrets.send(new GetSecretValueCommand({ SecretId: 'api-key' })));
    const written = { service: 's3', action: 'PutObject', bucket: 'archive', key: 'logs/a', method: 'PUT' };
    expect(logged).toMatchObject([
      { ...written, status: 200, code: undefined },
      { ...written, status: 412, code: 'PreconditionFailed' },
      { service: 'secretsmanager', action: 'GetSecretValue', status: 400, code: 'ResourceNotFoundException' },
    ]);
  });
});

describe('what is not built', () => {
  type Call = (clients: typeof endpoint) => Promise<unknown>;
  const ofA = { Bucket: 'archive', Key: 'a' };
  const ofB = { Bucket: 'archive', Key: 'b' };
  const getting =
    (input: Partial<GetObjectCommandInput>): Call =>
    ({ s3 }) =>
      s3.send(new GetObjectCommand({ ...ofA, ...input }));
  const putting =
    (input: Partial<PutObjectCommandInput>): Call =>
    ({ s3 }) =>
      s3.send(new PutObjectCommand({ ...ofB, Body: 'x', ...input }));

  it.each<[string, Call]>([
    ['x-amz-copy-source', ({ s3 }) => s3.send(new CopyObjectCommand({ ...ofB, CopySource: 'archive/a' }))],
    ['uploads', ({ s3 }) => s3.send(new CreateMultipartUploadCommand(ofB))],
    ['range', getting({ Range: 'bytes=0-1' })],
    ['ListObjects', ({ s3 }) => s3.send(new ListObjectsCommand({ Bucket: 'archive' }))],
    ['If-None-Match', putting({ IfNoneMatch: '"tag"' })],
    // The SDK sends the checksum of a stream behind the body, in chunks.
    ['transfer-encoding', putting({ Body: Readable.from([Buffer.from('x')]), ContentLength: 1 })],
    ['CreateBucket', ({ s3 }) => s3.send(new CreateBucketCommand({ Bucket: 'another' }))],
  ])('is refused by its name, never ignored: %s', async (name, call) => {
    const failure = await failureOf(call(endpoint));
    expect(failure).toMatchObject({ status: 501, code: 'NotImplemented' });
    expect(failure.message).toContain(name === 'CreateBucket' ? 'PUT of a bucket' : name);
    expect(await keys()).toEqual([]);
  });
});
