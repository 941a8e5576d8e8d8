import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Connection } from '../../../lambda/service/connection';

it('more blank lines before an answer than a string can hold do not end the process', async () => {
  const blank = Buffer.alloc(1024 * 1024, '\r\n');
  const answer = [...Array(520).fill(blank), 'HTTP/1.1 200 OK\r\n\r\n'];
  const server = createServer((socket) => void pipeline(Readable.from(answer), socket).catch(() => undefined));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  try {
    const { statusCode } = await new Connection(socket, () => undefined).ask('/', { Host: 'service' });
    expect(statusCode).toBe(200);
  } finally {
    socket.destroy();
    server.close();
  }
});
