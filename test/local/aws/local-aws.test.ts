import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
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
import { DescribeSecretCommand, GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import * as fc from 'fast-check';
import { percentEncode } from '../../../lambda/archive/archive-layout';
import type { LoggedRequest } from '../../../local/aws/local-aws';
import { anyCharacter } from '../../support/any-character';
import { type Intercept, injectFaults } from '../../support/aws-faults';
import { startEndpoint } from './endpoint-setup';
import { answerOf, failureOf } from './expect-failure';

let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let fault: Intercept;
let logged: LoggedRequest[];
let onLogged: () => void;

beforeEach(async () => {
  fault = () => undefined;
  logged = [];
  onLogged = () => undefined;
  endpoint = await startEndpoint({
    around: injectFaults((request) => fault(request)),
    onRequest: (request) => {
      logged.push(request);
      onLogged();
    },
  });
});

afterEach(() => endpoint.stop());

const put = (Key = 'a', Body = 'hello') =>
  endpoint.s3.send(new PutObjectCommand({ Bucket: 'archive', Key, Body, IfNoneMatch: '*' }));

const keys = async (): Promise<unknown[]> => {
  const { Contents = [] } = await endpoint.s3.send(new ListObjectsV2Command({ Bucket: 'archive' }));
  return Contents.map(({ Key }) => Key);
};

describe('a call that is held', () => {
  it('keeps nobody waiting once the endpoint closes', async () => {
    const arrived = new Promise<void>((resolve) => {
      fault = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const hold = failureOf(put());
    await arrived;
    await endpoint.aws.close();
    expect(await hold).toMatchObject({ status: undefined });
    // This endpoint is closed already, and afterEach closes one.
    endpoint = await startEndpoint();
  });
});

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
    ['if-match', getting({ IfMatch: '"x"' })],
    ['delimiter', ({ s3 }) => s3.send(new ListObjectsV2Command({ Bucket: 'archive', Delimiter: '=' }))],
    ['ListObjects', ({ s3 }) => s3.send(new ListObjectsCommand({ Bucket: 'archive' }))],
    ['x-amz-checksum-sha256', putting({ ChecksumSHA256: 'x'.repeat(44) })],
    ['content-md5', putting({ ContentMD5: 'AAAAAAAAAAAAAAAAAAAAAA==' })],
    ['If-None-Match', putting({ IfNoneMatch: '"tag"' })],
    ['cache-control', putting({ CacheControl: 'no-store' })],
    // The SDK sends the checksum of a stream behind the body, in chunks.
    ['x-amz-decoded-content-length', putting({ Body: Readable.from([Buffer.from('x')]), ContentLength: 1 })],
    ['DescribeSecret', ({ secrets }) => secrets.send(new DescribeSecretCommand({ SecretId: 'api-key' }))],
    ['CreateBucket', ({ s3 }) => s3.send(new CreateBucketCommand({ Bucket: 'another' }))],
  ])('is refused by its name, never ignored: %s', async (name, call) => {
    const failure = await failureOf(call(endpoint));
    expect(failure).toMatchObject({ status: 501, code: 'NotImplemented' });
    expect(failure.message).toContain(name === 'CreateBucket' ? 'PUT of a bucket' : name);
    expect(await keys()).toEqual([]);
  });
});

describe('the embedded endpoint', () => {
  it('refuses keys that cannot lie in a folder', async () => {
    const { raw } = endpoint;
    for (const [path, signedPath] of [
      ['/archive/../x'],
      ['/archive/%2e%2e/x', '/archive/../x'],
      ['/archive/%2E.%2fx', '/archive/../x'],
      ['/archive/.metadata/a'],
      ['/archive/a%00b'],
    ] as const) {
      const target = { path, ...(signedPath !== undefined && { signedPath }) };
      const body = Buffer.from('x');
      expect(answerOf(await raw.send({ method: 'PUT', ...target, body }))).toEqual([400, 'InvalidArgument']);
      expect(answerOf(await raw.send({ method: 'GET', ...target }))).toEqual([404, 'NoSuchKey']);
      expect((await raw.send({ method: 'DELETE', ...target })).status).toBe(204);
    }
    expect(await keys()).toEqual([]);
    expect(await readdir(endpoint.around)).toEqual(['archive']);
  });

  it('writes nothing of an upload whose client goes away', async () => {
    const headers = { 'content-length': '1000000' };
    const raw = { method: 'PUT', path: '/archive/a', payloadHash: 'UNSIGNED-PAYLOAD', headers };
    const bytes = await endpoint.raw.bytes({ ...raw, body: Buffer.alloc(500_000) });
    const socket = connect(Number(new URL(endpoint.aws.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const received = new Promise<void>((resolve) => {
      onLogged = resolve;
    });
    socket.write(bytes, () => socket.resetAndDestroy());
    await received;
    expect(logged).toMatchObject([{ action: 'PutObject', status: undefined }]);
    expect(await keys()).toEqual([]);
    expect(await readdir(join(endpoint.folder, '.metadata-incoming'))).toEqual([]);
  });

  it('answers 500 with the reason for an object whose description is damaged', async () => {
    await put('a');
    await put('b');
    await writeFile(join(endpoint.folder, '.metadata', 'a.json'), '{"key":');
    const failure = await failureOf(endpoint.s3.send(new GetObjectCommand({ Bucket: 'archive', Key: 'a' })));
    expect(failure).toMatchObject({ status: 500, code: 'InternalError' });
    expect(failure.message).toContain('its metadata file in .metadata/ cannot be used: it is not JSON');
    expect(await failureOf(put('a'))).toMatchObject({ status: 412 });
    expect(await keys()).toEqual(['a', 'b']);
  });

  it('serves one connection after many failures on it', async () => {
    for (let i = 0; i < 3; i += 1) {
      await failureOf(endpoint.s3.send(new GetObjectCommand({ Bucket: 'archive', Key: 'absent' })));
      await put(`kept-${i}`);
      // Larger than what a socket holds: the rest of a refused body must not be read as the next request.
      await failureOf(put(`kept-${i}`, 'x'.repeat(1_500_000)));
    }
    expect(await keys()).toEqual(['kept-0', 'kept-1', 'kept-2']);
  });

  it('closes a connection on which a body may follow that it did not ask for', async () => {
    await put();
    const headers = { expect: '100-continue', 'if-none-match': '*', connection: 'keep-alive' };
    const answer = await endpoint.raw.send({ method: 'PUT', path: '/archive/a', headers, body: Buffer.from('x') });
    expect([answer.status, answer.wasAsked, answer.headers.connection]).toEqual([412, false, 'close']);
  });

  it('answers a client that sends more than is read', async () => {
    const body = Buffer.alloc(3 * 2 ** 20, ' ');
    const headers = { 'x-amz-target': 'secretsmanager.GetSecretValue' };
    const answer = await endpoint.raw.send({ method: 'POST', path: '/', service: 'secretsmanager', headers, body });
    expect(answer.status).toBe(413);
  });

  it('survives bytes of any kind', async () => {
    const pieces = fc.constantFrom(
      'PUT /archive/a HTTP/1.1\r\n',
      'GET /%zz?%=%&a[]=__proto__ HTTP/1.1\r\n',
      'Host: a\r\n',
      '\r\n\r\n',
      'Authorization: AWS4-HMAC-SHA256 ',
      'x-amz-date: \0\r\n',
      'x-amz-target: secretsmanager.__proto__\r\n',
      'Content-Length: -1\r\n',
      'Transfer-Encoding: chunked\r\n',
      'ffffffffffffffff\r\n',
    );
    const bytes = fc.array(
      fc.oneof(
        pieces,
        fc.uint8Array().map((array) => Buffer.from(array).toString('latin1')),
      ),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (parts) => {
        const answer = await endpoint.raw
          .exchange(Buffer.from(parts.join(''), 'latin1'))
          .catch((error: unknown) => error);
        if (typeof answer === 'string') expect(answer).not.toMatch(/^HTTP\/1\.1 (?:2|500)/);
      }),
      { numRuns: 100 },
    );
    await put();
    expect(await keys()).toEqual(['a']);
  });

  it('survives signed requests for anything', async () => {
    const names = fc.constantFrom('archive', '.metadata', '', '__proto__', 'a'.repeat(300));
    const text = fc.string({ unit: anyCharacter });
    const path = fc.array(fc.oneof(names, text));
    const known = ['list-type', 'prefix', 'max-keys', 'delimiter', 'continuation-token', 'acl', '__proto__'];
    const query = fc.dictionary(fc.oneof(fc.constantFrom(...known), text), text);
    const methods = fc.constantFrom('GET', 'PUT', 'HEAD', 'DELETE', 'POST');
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(methods, path, query, async (method, segments, parameters) => {
        const { status } = await endpoint.raw.send({
          method,
          path: `/archive/${segments.map(percentEncode).join('/')}`,
          query: Object.fromEntries(Object.entries(parameters).filter(([name]) => name !== '__proto__')),
        });
        seen.add(status);
        expect(status).not.toBe(500);
      }),
      {
        numRuns: 150,
        // Both reach an operation, whatever chance makes of the others.
        examples: [
          ['GET', [], { 'list-type': '2', prefix: '\0' }],
          ['GET', ['a'], {}],
        ],
      },
    );
    expect([...seen]).toEqual(expect.arrayContaining([200, 404]));
    expect(seen.has(403)).toBe(false);
  });
});
