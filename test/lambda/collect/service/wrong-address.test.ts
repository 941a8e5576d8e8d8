import dns from 'node:dns';
import { startFaultService } from '../../../support/fault-service';
import { ok, status } from '../../../support/fault-service-answers';
import { logRecord } from '../../../support/fault-service-bodies';
import { refusedAddress } from '../../../support/fault-service-refusal';
import { RealCollector } from '../../../support/real-collector';
import { testCertificates } from '../../../support/tls';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function firstAttempt(service: { baseUrl: string }) {
  const collector = await RealCollector.start({ service, clusters: [{ uid: 'a/b', resources: ['log'] }] });
  closing.push(() => collector.close());
  const { outcomes, error } = await collector.attempt();
  return { failure: outcomes[0]?.error ?? '', thrown: error?.message ?? '' };
}

const path = '/v1/platformclusters/a%2Fb/features/logFetcher';

describe('a wrong address is named for what it is, in the first attempt', () => {
  it('as a host that is not there', async () => {
    const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    const real = dns.lookup as (...args: unknown[]) => void;
    const lookup = jest.spyOn(dns, 'lookup').mockImplementation(((...args: unknown[]) => {
      if (args[0] === 'clusters.invalid') process.nextTick(args.at(-1) as () => void, notFound);
      else real(...args);
    }) as typeof dns.lookup);
    closing.push(async () => lookup.mockRestore());
    const { failure, thrown } = await firstAttempt({ baseUrl: 'https://clusters.invalid' });
    const what =
      'the host clusters.invalid does not exist (ENOTFOUND); check service.baseUrl, and the DNS of the network';
    expect(failure).toMatch(
      `GET features/logFetcher of cluster a/b failed: ${what}; asked https://clusters.invalid${path}`,
    );
    expect(thrown).toContain(`It ended early: the service cannot be reached: ${what}`);
    expect(thrown).not.toContain('looks down');
  });

  it('as a port without TLS', async () => {
    const service = await startFaultService(() => ok(logRecord({ uid: 'a/b' })));
    closing.push(() => service.close());
    const { host } = new URL(service.url);
    const { failure, thrown } = await firstAttempt({ baseUrl: `https://${host}` });
    expect(failure).toMatch(
      new RegExp(`what listens at ${host} does not speak TLS as it should \\(E.*; asked https://${host}${path}`),
    );
    expect(thrown).toContain(
      `It ended early: the service cannot be reached: what listens at ${host} does not speak TLS`,
    );
  });

  it.each<[string, boolean]>([
    ['that resets', true],
    ['that says 400', false],
  ])('as a port of TLS %s what is not TLS', async (_what, resets) => {
    const service = await startFaultService(() => status(400), resets ? { tls: testCertificates().server } : {});
    closing.push(() => service.close());
    const { host } = new URL(service.url);
    const { failure } = await firstAttempt({ baseUrl: `http://${host}` });
    expect(failure).toContain(resets ? 'no answer (ECONNRESET)' : '400 Bad Request');
    expect(failure).toContain('; if this is a port of TLS, service.baseUrl has to begin with https');
  });

  it('as a port that refuses, which may also be a service that starts again', async () => {
    const refused = await refusedAddress();
    closing.push(() => refused.release());
    const { failure, thrown } = await firstAttempt({ baseUrl: refused.url });
    const what = 'no answer (ECONNREFUSED), nothing listens at the port of service.baseUrl';
    expect(failure).toContain(`failed: ${what}; asked ${refused.url}${path}`);
    expect(thrown).toContain(what);
    expect(thrown).toContain('the service looks down');
  });

  it('and not where the service itself is at fault', async () => {
    const service = await startFaultService(() => status(500));
    closing.push(() => service.close());
    const { failure, thrown } = await firstAttempt({ baseUrl: service.url });
    expect(failure).not.toContain('asked');
    expect(thrown).toContain('the service looks down');
  });
});
