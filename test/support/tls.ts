import {
  createAuthority,
  issueServerCertificate,
  type ServerCertificate,
} from '../../local/demo-service/tls-certificate';

const day = 24 * 3600 * 1000;

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
export function testCertificates(): TestCertificates {
  const authority = createAuthority('collector test authority');
  const otherAuthority = createAuthority('another test authority');
  const past = { notBefore: new Date(Date.now() - 30 * day), notAfter: new Date(Date.now() - 2 * day) };
  return {
    ca: authority.cert,
    server: issueServerCertificate(authority),
    expired: issueServerCertificate(authority, { validity: past }),
    otherHost: issueServerCertificate(authority, { server: { dnsNames: ['elsewhere.example'], ipv4: [] } }),
    ofOtherCa: issueServerCertificate(otherAuthority),
    otherCa: otherAuthority.cert,
  };
}
