import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { Agent, createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { S3Client } from '@aws-sdk/client-s3';
import { SignedRequests } from '../../../archive/read/signed-requests';
import { testCertificates } from '../../support/tls';

/**
 * The signature of a request as S3 computes it from what arrived (Signature Version 4): the local endpoint knows its callers by
 * their access keys and verifies none.
 */
function signatureOf({ method, url = '', headers }: IncomingMessage, secretAccessKey: string): string {
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(String(headers.authorization)) ?? [];
  const [path = '', query = ''] = url.split('?');
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, path, query, signed.join(''), names, headers['x-amz-content-sha256']].join('\n');
  const hash = createHash('sha256').update(canonical).digest('hex');
  const key = scope
    .split('/')
    .reduce<string | Buffer>(
      (previous, part) => createHmac('sha256', previous).update(part).digest(),
      `AWS4${secretAccessKey}`,
    );
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash].join('\n');
  return createHmac('sha256', key).update(text).digest('hex');
}

const credentials = { accessKeyId: 'an-access-key', secretAccessKey: 'a secret', sessionToken: 'a session' };
const key = "logs/cluster=%C3%A4%2B a~(1)'*!$&=@;:é😀/date=2026-11-20/20261120T100000.000Z.json.gz";
const body = Buffer.from('what is stored');

describe.each(['http', 'https'])('over %s', (protocol) => {
  it.each([
    ['GET', undefined],
    ['PUT', body],
    ['PUT', () => Readable.from([body])],
  ] as const)('a %s has the signature that S3 computes from what arrives', async (method, content) => {
    const expected: string[] = [];
    const received: Buffer[] = [];
    const signatures: string[] = [];
    const listener: RequestListener = async (request, response) => {
      expected.push(`Signature=${signatureOf(request, credentials.secretAccessKey)}`);
      signatures.push(String(request.headers.authorization).replace(/^.*, /, ''));
      received.push(await buffer(request));
      response.end();
    };
    const { server: tls } = testCertificates();
    const server = protocol === 'https' ? createHttpsServer(tls, listener) : createHttpServer(listener);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const endpoint = `${protocol}://127.0.0.1:${port}`;
    const requestHandler = { httpsAgent: new Agent({ rejectUnauthorized: false }) };
    const client = new S3Client({
      endpoint,
      region: 'eu-central-1',
      credentials,
      forcePathStyle: true,
      requestHandler,
    });

    const headers = { 'if-none-match': '*', 'content-length': String(content === undefined ? 0 : body.length) };
    const sent = typeof content === 'function' ? content() : content;
    const request = { method, key, headers, ...(sent && { body: sent }) };
    const answer = await new SignedRequests(client, 'my-archive').send(request);
    answer.body.resume();
    client.destroy();
    server.close();
    server.closeAllConnections();

    expect(received).toEqual([sent === undefined ? Buffer.alloc(0) : body]);
    expect(signatures).toEqual(expected);
  });
});
