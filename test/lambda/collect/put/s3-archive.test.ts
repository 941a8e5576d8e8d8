import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { createS3Client } from '../../../../lambda/aws-clients';
import type { ArchiveObject } from '../../../../lambda/collect/put/archive-object';
import { ConditionalPut } from '../../../../lambda/collect/put/conditional-put';
import { S3Archive } from '../../../../lambda/collect/put/s3-archive';
import { type ListeningServer, listenLocally } from '../../../../local/listen-locally';
import { VirtualClock } from '../../../support/virtual-clock';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

let server: Server;
let listening: ListeningServer;
let received: Received[];
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  received = [];
  answer = (response) => response.writeHead(200, { 'content-length': 0, etag: '"one"' }).end();
  server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    received.push({ method, url, headers, body });
    answer(response);
  });
  listening = await listenLocally(server);
});

afterEach(() => listening.close());

const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret', sessionToken: 'a session' };
const client = (options = {}) =>
  new S3Client({ endpoint: listening.url, region: 'eu-central-1', credentials, maxAttempts: 1, ...options });
const never = new AbortController().signal;
const object = (key = 'one'): ArchiveObject => ({ key, content: Buffer.from('content'), contentType: 'text/plain' });
const long = {
  length: 7,
  crc32: crc32('content'),
  open: () => Readable.from([Buffer.from('content')], { objectMode: false }),
};
const send = (options = {}) => new ConditionalPut(client(options), 'archive').send(object(), never);

describe('putting an object', () => {
  it.each([
    ['a short one', Buffer.from('content')],
    ['a long one', long],
  ])('sends it once, whole, signed, with its headers and the SDK’s credentials (%s)', async (_what, content) => {
    const metadata = { resource: 'log' };
    const put = new ConditionalPut(client(), 'archive');
    await put.send({ ...object('logs/cluster=a/one'), content, contentEncoding: 'gzip', metadata }, never);
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ method: 'PUT', url: '/archive/logs/cluster%3Da/one?x-id=PutObject' });
    expect(received[0]?.body.toString()).toBe('content');
    expect(received[0]?.headers).toMatchObject({
      'content-type': 'text/plain',
      'content-encoding': 'gzip',
      'x-amz-meta-resource': 'log',
      'if-none-match': '*',
      // node -p "Buffer.from(require('zlib').crc32('content').toString(16), 'hex').toString('base64')"
      'x-amz-checksum-crc32': '/sUwqQ==',
      'content-length': '7',
      'x-amz-security-token': 'a session',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/eu-central-1\/s3\/aws4_request, SignedHeaders=.*if-none-match;.*x-amz-checksum-crc32;/,
      ),
    });
  });

  it('sends nothing of a long one before S3 has asked for it', async () => {
    server.on('checkContinue', (_request, response) => response.writeHead(412).end());
    const open = jest.fn(long.open);
    const sending = new ConditionalPut(client(), 'archive').send({ ...object(), content: { ...long, open } }, never);
    await expect(sending).rejects.toMatchObject({ $metadata: { httpStatusCode: 412 } });
    expect(open.mock.results.map(({ value }) => value.readableDidRead)).toEqual([false]);
  });

  it('fails with what kept a long one from being read', async () => {
    const open = () =>
      new Readable({
        read: (): never => {
          throw new Error('the disk is gone');
        },
      });
    const sending = new ConditionalPut(client(), 'archive').send({ ...object(), content: { ...long, open } }, never);
    await expect(sending).rejects.toThrow('the disk is gone');
  });

  it('asks for the same path as the SDK, whatever the key', async () => {
    const sdk = client();
    const put = new ConditionalPut(sdk, 'archive');
    const keys = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((key) => !key.split('/').includes('..') && !key.split('/').includes('.'));
    await fc.assert(
      fc.asyncProperty(keys, async (key) => {
        received = [];
        await sdk.send(new PutObjectCommand({ Bucket: 'archive', Key: key, Body: 'x' }));
        await put.send(object(key), never);
        expect(received[1]?.url).toBe(received[0]?.url);
      }),
      { numRuns: 100 },
    );
  });

  it('goes where the SDK would go: to the bucket’s own host, where AWS has it', async () => {
    const asked: { hostname: string; path: string }[] = [];
    const requestHandler = {
      handle: async (request: { hostname: string; path: string; headers: object }) => {
        asked.push({ hostname: request.hostname, path: request.path });
        return { response: { statusCode: 200, headers: { 'content-length': '0', etag: '"one"' }, body: emptyBody() } };
      },
    };
    const aws = new S3Client({ region: 'eu-central-1', credentials, requestHandler: requestHandler as never });
    await new ConditionalPut(aws, 'archive').send(object('logs/one'), never);
    expect(asked).toEqual([{ hostname: 'archive.s3.eu-central-1.amazonaws.com', path: '/logs/one' }]);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['without an ETag', (response) => response.writeHead(200, { 'content-length': 0 }).end()],
    ['with a page of a gateway', (response) => response.writeHead(200).end('<html>Please sign in</html>')],
  ])('does not take a 200 %s for success', async (_what, said) => {
    answer = said;
    await expect(send()).rejects.toMatchObject({
      name: 'NotStored',
      message: 'the answer has no ETag, so nothing shows that the object is stored',
      $metadata: { httpStatusCode: 200 },
    });
  });

  it('signs with the time of S3 after S3 has refused its own', async () => {
    const ahead = 3600_000;
    const refused = '<Error><Code>RequestTimeTooSkewed</Code><Message>why</Message></Error>';
    answer = (response) => {
      const date = new Date(Date.now() + ahead).toUTCString();
      response.writeHead(403, { date }).end(refused);
    };
    const put = new ConditionalPut(client(), 'archive');
    await expect(put.send(object(), never)).rejects.toThrow('why');
    answer = (response) => response.writeHead(200, { 'content-length': 0, etag: '"one"' }).end();
    await put.send(object(), never);
    const [first = 0, second = 0] = received.map((request) => timeOf(request.headers['x-amz-date']));
    expect(second - first).toBeGreaterThan(ahead - 5000);
    expect(second - first).toBeLessThan(ahead + 60_000);
  });

  it('does not take an error for success because its status is 200', async () => {
    answer = (response) => response.writeHead(200).end('<Error><Code>InternalError</Code></Error>');
    await expect(send()).rejects.toMatchObject({ name: 'InternalError', $metadata: { httpStatusCode: 503 } });
  });

  it('is cancelled while it waits for the answer', async () => {
    const stop = new AbortController();
    answer = () => stop.abort();
    const sending = new ConditionalPut(client(), 'archive').send(object(), stop.signal);
    await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('asks for the credentials again after they could not be had', async () => {
    let asked = 0;
    const provider = async () => {
      asked += 1;
      if (asked === 1) throw new Error('not yet');
      return credentials;
    };
    const put = new ConditionalPut(client({ credentials: provider }), 'archive');
    await expect(put.send(object(), never)).rejects.toThrow('not yet');
    await put.send(object(), never);
    expect(received).toHaveLength(1);
  });
});

/** What the fault matrices do not show. */
describe('an archive', () => {
  const archive = () => {
    const sdk = createS3Client(4, () => undefined, { endpoint: listening.url, region: 'eu-central-1', credentials });
    return new S3Archive(sdk, 'archive', new VirtualClock());
  };

  it('asks again whether an object is stored if S3 says 200 without an ETag', async () => {
    const statuses = [200, 412];
    answer = (response) => response.writeHead(statuses.shift() ?? 500).end();
    expect(await archive().put(object(), never)).toBe('answer-lost');
    expect(statuses).toEqual([]);
  });

  it.each([
    [500, 'answer-lost'],
    [409, 'already-archived'],
  ])('says after a %i that an object lies there, and whether it may be this one: %s', async (status, expected) => {
    const statuses = [status, 412];
    answer = (response) => response.writeHead(statuses.shift() ?? 500).end();
    expect(await archive().put(object(), never)).toBe(expected);
  });
});

/** Milliseconds behind `20261120T100000Z`. */
function timeOf(stamp: string | string[] | undefined): number {
  return Date.parse(String(stamp).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
}

function emptyBody() {
  return { on: () => emptyBody(), resume: () => emptyBody() };
}
