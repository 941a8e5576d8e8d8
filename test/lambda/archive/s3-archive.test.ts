import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createS3Client } from '../../../lambda/archive/aws-clients';
import { ArchiveError, S3Archive } from '../../../lambda/archive/s3-archive';
import { VirtualClock } from '../../support/virtual-clock';

/** What the fault matrices do not show. */

let server: Server;
let sockets: Socket[];

beforeEach(() => {
  sockets = [];
});

afterEach(async () => {
  server.close();
  for (const socket of sockets) socket.destroy();
  await once(server, 'close');
});

/** An archive in a bucket that answers what the test says, byte for byte. */
async function start(answer: (socket: Socket) => void): Promise<S3Archive> {
  server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    answer(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret' },
  };
  return new S3Archive(
    createS3Client(4, () => undefined, target),
    'archive',
    new VirtualClock(),
  );
}

it.each([
  ['with a checksum, as S3 sends it', 'x-amz-checksum-crc32: AAAAAA==\r\n'],
  ['without a checksum', ''],
])('refuses to read what is longer than wanted (%s), and gives up its connection', async (_what, checksum) => {
  let givenUp: Promise<unknown> = Promise.resolve();
  const archive = await start((socket) => {
    givenUp = once(socket, 'close');
    socket.once('data', () =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n${checksum}\r\nThe first`),
    );
  });
  const reading = archive.open('runs/one', 100, new AbortController().signal);
  await expect(reading).rejects.toThrow(ArchiveError);
  await expect(reading).rejects.toThrow('GET s3://archive/runs/one failed: 1000000000 bytes, at most 100 are read');
  await givenUp;
});

it('asks again whether an object is stored if S3 says 200 without an ETag', async () => {
  const answers = ['HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello', 'HTTP/1.1 412 x\r\ncontent-length: 0\r\n\r\n'];
  const archive = await start((socket) => {
    socket.on('data', (bytes) => {
      if (bytes.includes('abc')) socket.write(answers.shift() ?? '');
    });
  });
  const object = { key: 'logs/one', content: Buffer.from('abc'), contentType: 'text/plain' };
  expect(await archive.put(object, new AbortController().signal)).toBe('already-archived');
  expect(answers).toEqual([]);
});
