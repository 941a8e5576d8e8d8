import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { type ServerCertificate, type TestCertificates, testCertificates } from './tls';

let certificates: TestCertificates;

beforeAll(async () => {
  certificates = await testCertificates();
});

/** Resolves when the handshake succeeded, rejects with the client's reason otherwise. */
async function shakeHands(server: ServerCertificate, options: { ca?: string; servername?: string }): Promise<void> {
  const listener = createServer(server, (socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = connect({ host: '127.0.0.1', port: (listener.address() as AddressInfo).port, ...options });
  try {
    await once(client, 'secureConnect');
  } finally {
    client.destroy();
    listener.close();
  }
}

it('a client that trusts the authority accepts its server by address and by name', async () => {
  await shakeHands(certificates.server, { ca: certificates.ca });
  await shakeHands(certificates.server, { ca: certificates.ca, servername: 'localhost' });
});

it.each([
  ['the expired certificate', 'expired', 'CERT_HAS_EXPIRED'],
  ['the certificate of another host', 'otherHost', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['the certificate of another authority', 'ofOtherCa', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
] as const)('a client refuses %s', async (_, name, code) => {
  const refused = shakeHands(certificates[name], { ca: certificates.ca });
  await expect(refused).rejects.toMatchObject({ code });
});

it('a client refuses a private authority it was not told about', async () => {
  const refused = shakeHands(certificates.server, {});
  await expect(refused).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
});

it('a client that trusts the other authority accepts its server', async () => {
  await shakeHands(certificates.ofOtherCa, { ca: certificates.otherCa });
});
