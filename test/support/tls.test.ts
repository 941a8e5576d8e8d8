import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import type { ServerCertificate } from '../../local/demo-service/tls-certificate';
import { testCertificates } from './tls';

const certificates = testCertificates();

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
  ['the expired certificate', certificates.expired, certificates.ca, 'CERT_HAS_EXPIRED'],
  ['the certificate of another host', certificates.otherHost, certificates.ca, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['the certificate of another authority', certificates.ofOtherCa, certificates.ca, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['a private authority it was not told about', certificates.server, undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
])('a client refuses %s', async (_, server, ca, code) => {
  await expect(shakeHands(server, ca === undefined ? {} : { ca })).rejects.toMatchObject({ code });
});

it('a client that trusts the other authority accepts its server', async () => {
  await shakeHands(certificates.ofOtherCa, { ca: certificates.otherCa });
});

it('a reader of certificates finds what was asked for', () => {
  const ca = new X509Certificate(certificates.ca);
  const server = new X509Certificate(certificates.server.cert);
  expect(ca.ca).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
  expect(server.ca).toBe(false);
  expect(server.checkIssued(ca)).toBe(true);
  expect(server.verify(ca.publicKey)).toBe(true);
  expect(server.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1');
  expect(new X509Certificate(certificates.ofOtherCa.cert).verify(ca.publicKey)).toBe(false);
});
