import { createHash } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { requestStamp } from '../../../../archive/prove/stamps/request-stamp';
import { listenLocally } from '../../../../local/listen-locally';
import {
  type StampAuthorityServer,
  startStampAuthority,
} from '../../../../local/stamp-authority/start-stamp-authority';

const sha256 = createHash('sha256').update('a seal').digest();
const now = new Date('2026-11-23T06:30:07Z');
let authority: StampAuthorityServer;
let root: string;

beforeAll(async () => {
  authority = await startStampAuthority({ now: () => now });
  root = authority.root.raw.toString('base64');
});
afterAll(() => authority.close());

async function askThrough(listener: RequestListener) {
  const server = await listenLocally(createServer(listener));
  try {
    return await requestStamp({ name: 'test', url: server.url, root }, sha256);
  } finally {
    await server.close();
  }
}

describe('asking for a stamp', () => {
  it('gives the time, and the whole answer', async () => {
    const stamp = await requestStamp({ name: 'local', url: authority.url, root }, sha256);
    expect(stamp.time).toEqual(now);
    expect(stamp.response.length).toBeGreaterThan(500);
  });

  it.each<[string, RequestListener, string]>([
    ['a status other than 200', (_, response) => response.writeHead(503).end(), 'it answered with the status 503'],
    ['a page', (_, response) => response.end('<html>'), 'it is not a time stamp that can be read'],
    ['a redirect', (_, response) => response.writeHead(302, { location: authority.url }).end(), 'unexpected redirect'],
    ['an answer without end', (_, response) => response.end(Buffer.alloc(70_000)), 'longer than 65536 bytes'],
    ['a cut connection', (request) => request.socket.destroy(), 'other side closed'],
  ])('fails for %s, and names the authority', async (_, listener, problem) => {
    const asked = askThrough(listener);
    await expect(asked).rejects.toThrow(/^Asking test \(http:\/\/127\.0\.0\.1:\d+\) for a time stamp failed: /);
    await expect(asked).rejects.toThrow(problem);
  });
});
