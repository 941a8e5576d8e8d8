import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { endSilence } from '../../../archive/read/end-silence';
import { firstOf } from '../../../archive/read/newest-first';
import { openBucket } from '../../../archive/read/open-bucket';
import { readWhole } from '../../../archive/read/read-whole';
import { listenLocally } from '../../../local/listen-locally';

const credentials = { accessKeyId: 'an-access-key', secretAccessKey: 'a secret' };
const before = { ...process.env };
let end: () => Promise<void>;

/** A bucket whose requests somebody answers by hand. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  const { url, close } = await listenLocally(server);
  end = async () => {
    server.closeAllConnections();
    await close();
  };
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
  return url;
}

afterEach(async () => {
  jest.useRealTimers();
  process.env = { ...before };
  await end();
});

/** Begins an answer of so many bytes. */
function answer(response: ServerResponse, length: number, beginning: string | Buffer): void {
  response.writeHead(200, { 'content-length': length, 'content-type': 'application/xml' });
  response.write(beginning);
}

/** Only what the server never sends is waited for in vain, however slow this machine is. */
const patient = { connectionTimeout: 60_000, requestTimeout: 60_000, silence: 60_000 };
const open = (limits: Partial<typeof patient>) => openBucket('archive', undefined, { ...patient, ...limits });

describe('a bucket whose connection falls silent', () => {
  it('before it answers is said so, after three requests', async () => {
    let asked = 0;
    await serve(() => {
      asked += 1;
    });
    const reader = await open({ requestTimeout: 50 });
    await expect(firstOf(reader.list('runs/'))).rejects.toThrow(
      'Listing runs/ in s3://archive failed: no answer came within 0.05 s; check the network',
    );
    expect(asked).toBe(3);
  });

  it('within a listing is said so', async () => {
    let asked = 0;
    await serve((_, response) => {
      asked += 1;
      answer(response, 1000, '<ListBucketResult>');
    });
    const reader = await open({ silence: 50 });
    await expect(firstOf(reader.list('runs/'))).rejects.toThrow(
      'Listing runs/ in s3://archive failed: the connection fell silent: no byte came for 0.05 s; check the network',
    );
    expect(asked).toBe(3);
  });

  it.each([
    ['a small object', 1000],
    ['a large object', 10_000_000],
  ])('within %s is not damage, and ends', async (_, length) => {
    await serve((_request, response) => answer(response, length, 'x'.repeat(100)));
    const reading = readWhole(await open({ silence: 50 }), 'runs/one', 20_000_000);
    await expect(reading).rejects.toMatchObject({
      name: 'ArchiveReadError',
      message: 'Reading runs/one failed: the connection fell silent: no byte came for 0.05 s; check the network',
    });
  });
});

describe('a body', () => {
  const hour = 3_600_000;
  const everythingElse = [
    'Date',
    'nextTick',
    'performance',
    'queueMicrotask',
    'setImmediate',
    'setTimeout',
    'clearTimeout',
    'hrtime',
  ] as const;

  async function bodyOf(listener: RequestListener): Promise<Readable> {
    const endpoint = await serve(listener);
    jest.useFakeTimers({ doNotFake: [...everythingElse, 'clearImmediate'] });
    const client = new S3Client({ endpoint, credentials, region: 'eu-central-1', forcePathStyle: true });
    endSilence(client, 30_000);
    const { Body } = await client.send(new GetObjectCommand({ Bucket: 'archive', Key: 'x' }));
    if (!(Body instanceof Readable)) throw new Error('it is not a stream');
    return Body;
  }

  it('goes on after an hour in which nobody reads it', async () => {
    const content = Buffer.alloc(8_000_000, 'x');
    const body = await bodyOf((_, response) => answer(response, content.length, content));
    let length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length !== chunk.length) continue;
      // The reader is at the first page.
      while (body.readableLength === 0) await once(body, 'readable');
      jest.advanceTimersByTime(hour);
    }
    expect(length).toBe(content.length);
  });

  it('ends where somebody waits for it and nothing comes', async () => {
    const body = await bodyOf((_, response) => answer(response, 1000, 'x'.repeat(100)));
    let length = 0;
    const read = async () => {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length === 100) setImmediate(() => jest.advanceTimersByTime(60_000));
      }
    };
    await expect(read()).rejects.toThrow('the connection fell silent: no byte came for 30 s; check the network');
    expect(length).toBe(100);
  });

  it('has time until somebody reads its end', async () => {
    const body = await bodyOf((_, response) => {
      response.end('whole');
    });
    await once(body, 'readable');
    jest.advanceTimersByTime(hour);
    expect(String(body.read())).toBe('whole');
    jest.advanceTimersByTime(hour);
    await once(body, 'end');
  });
});
