import { generate, type SelfsignedOptions } from 'selfsigned';

const day = 24 * 3600 * 1000;

/** PEM texts, as servers of node:https and node:tls take them. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

export interface TestCertificates {
  /** The private authority's certificate (PEM), which clients have to trust. */
  readonly ca: string;
  /** For `localhost` and 127.0.0.1, signed by `ca`. */
  readonly server: ServerCertificate;
  /** Like `server`, but expired. */
  readonly expired: ServerCertificate;
  /** Like `server`, but for another host. */
  readonly otherHost: ServerCertificate;
  /** Like `server`, but signed by `otherCa`. */
  readonly ofOtherCa: ServerCertificate;
  readonly otherCa: string;
}

/** Makes new keys and certificates within milliseconds, so that the repository holds no secret and nothing expires. */
export async function testCertificates(): Promise<TestCertificates> {
  const authority = await makeAuthority('collector test authority');
  const otherAuthority = await makeAuthority('another test authority');
  const past = { notBeforeDate: new Date(Date.now() - 30 * day), notAfterDate: new Date(Date.now() - 2 * day) };
  return {
    ca: authority.cert,
    server: await issue(authority),
    expired: await issue(authority, past),
    otherHost: await issue(authority, { extensions: hostNames('elsewhere.example') }),
    ofOtherCa: await issue(otherAuthority),
    otherCa: otherAuthority.cert,
  };
}

function issue(ca: ServerCertificate, options: SelfsignedOptions = {}): Promise<ServerCertificate> {
  return makeCertificate('test service', { extensions: hostNames('localhost', '127.0.0.1'), ca, ...options });
}

function makeAuthority(name: string): Promise<ServerCertificate> {
  return makeCertificate(name, {
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
}

/** Left out of the options: the authority that signs, for a certificate that signs itself. */
async function makeCertificate(name: string, options: SelfsignedOptions): Promise<ServerCertificate> {
  const subject = [{ name: 'commonName', value: name }];
  const { private: key, cert } = await generate(subject, { keyType: 'ec', algorithm: 'sha256', ...options });
  return { key, cert: `${cert}\n` };
}

function hostNames(dns: string, ip?: string): SelfsignedOptions['extensions'] {
  const altNames = [{ type: 2, value: dns } as const, ...(ip === undefined ? [] : [{ type: 7, ip } as const])];
  return [{ name: 'subjectAltName', altNames }];
}
