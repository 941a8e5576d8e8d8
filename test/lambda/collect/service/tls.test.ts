import { Socket } from 'node:net';
import { TLSSocket, type TlsOptions } from 'node:tls';
import { type FaultService, startFaultService } from '../../../support/fault-service';
import { ok } from '../../../support/fault-service-answers';
import { logRecord } from '../../../support/fault-service-bodies';
import { RealCollector } from '../../../support/real-collector';
import { type ServerCertificate, type TestCertificates, testCertificates } from '../../../support/tls';

let certificates: TestCertificates;
let service: FaultService;
let collector: RealCollector;

beforeAll(async () => {
  certificates = testCertificates();
});

afterEach(async () => {
  await collector.close();
  await service.close();
});

async function start(tls: ServerCertificate & TlsOptions, caCertificate: string | undefined) {
  service = await startFaultService(({ uid = '' }) => ok(logRecord({ uid })), { tls });
  collector = await RealCollector.start({
    service: { baseUrl: service.url, ...(caCertificate === undefined ? {} : { caCertificate }) },
    clusters: [{ uid: 'a', resources: ['log'] }],
  });
  return collector.attempt();
}

it('a service whose certificate the configured authority signed is read', async () => {
  const { outcomes } = await start(certificates.server, certificates.ca);
  expect(outcomes).toMatchObject([{ outcome: 'archived' }]);
});

it('a service is read whose authority is given with all authorities up to the root', async () => {
  const { ofIntermediate, intermediate, ca } = certificates;
  const { outcomes } = await start(ofIntermediate, intermediate + ca);
  expect(outcomes).toMatchObject([{ outcome: 'archived' }]);
});

const team = 'ask the team of the service';

it.each<[string, TlsOptions, string]>([
  [
    'wants a client certificate',
    { requestCert: true, rejectUnauthorized: true },
    `wants a client certificate, which the collector cannot show; ${team} for an address that takes the API key alone`,
  ],
  [
    'wants a client certificate in TLS 1.2, which has no word for that',
    { requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' },
    `refused the TLS handshake; ${team} whether it wants a client certificate, which the collector cannot show, or has no cipher of today`,
  ],
  [
    'speaks TLS 1.0 alone',
    { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
    `speaks no TLS of version 1.2 or newer; ${team} to switch it on`,
  ],
  [
    'speaks TLS 1.1 alone',
    { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    `speaks no TLS of version 1.2 or newer; ${team} to switch it on`,
  ],
])('a service that %s is named', async (_what, options, problem) => {
  const { outcomes, error } = await start({ ...options, ...certificates.server }, certificates.ca);
  expect(outcomes[0]?.error).toContain(`failed: what listens at ${new URL(service.url).host} ${problem}`);
  expect(error?.message).toContain('It ended early: the service cannot be reached: what listens at');
  expect(service.requests).toEqual([]);
});

it('a request does not wait until the service has confirmed the end of the handshake', async () => {
  const noDelay = jest.spyOn(Socket.prototype, 'setNoDelay');
  await start(certificates.server, certificates.ca);
  const sockets = noDelay.mock.contexts.filter((socket) => socket instanceof TLSSocket);
  noDelay.mockRestore();
  expect(sockets).toHaveLength(1);
});

const authority = 'set service.caCertificateFile to the authority that signed it, if that is right';

/** What is left to be said of the authority's own authority. */
const upToTheRoot =
  'service.caCertificateFile has an authority that another one signed: add every authority up to the root, which signed itself';

it.each<[string, (all: TestCertificates) => [ServerCertificate, string | undefined], string, string]>([
  ['is of another authority', ({ ofOtherCa, ca }) => [ofOtherCa, ca], 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', authority],
  ['is of no public authority', ({ server }) => [server, undefined], 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', authority],
  [
    'is of an authority whose own authority is not given',
    ({ ofIntermediate, intermediate }) => [ofIntermediate, intermediate],
    'UNABLE_TO_GET_ISSUER_CERT',
    upToTheRoot,
  ],
  ['has expired', ({ expired, ca }) => [expired, ca], 'CERT_HAS_EXPIRED', 'the team of the service has to renew it'],
  [
    'is of another host',
    ({ otherHost, ca }) => [otherHost, ca],
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'it is for another host: check service.baseUrl',
  ],
])('a certificate that %s fails at once, and nothing is sent', async (_name, choose, code, advice) => {
  const { outcomes } = await start(...choose(certificates));
  expect(outcomes).toMatchObject([{ outcome: 'failed', requests: 1 }]);
  expect(outcomes[0]?.error).toBe(
    `GET features/logFetcher of cluster a failed: the service's certificate is not trusted (${code}); ${advice}; ` +
      `nothing was sent; asked ${service.url}/v1/platformclusters/a/features/logFetcher`,
  );
  expect(service.connections).toBe(1);
  expect(service.requests).toEqual([]);
});
