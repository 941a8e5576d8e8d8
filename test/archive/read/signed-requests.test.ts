import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { Agent, createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { S3Client } from '@aws-sdk/client-s3';
import { SignedRequests } from '../../../archive/read/signed-requests';
import { signatureOf } from '../../support/aws-signature';
import { testCertificates } from '../../support/tls';

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
