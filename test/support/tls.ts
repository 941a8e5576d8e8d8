import {
  type CertificateOptions,
  type Issuer,
  issueCertificate,
  ofIssuer,
  ofServer,
  pemOf,
} from '../../local/stamp-authority/issue-certificate';

const dayMs = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * dayMs);
const valid = { validFrom: inDays(-1), validTo: inDays(365) };

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
  /** An authority that `ca` signed. */
  readonly intermediate: string;
  /** Like `server`, but signed by `intermediate`. */
  readonly ofIntermediate: ServerCertificate;
}

/** Makes new keys and certificates within milliseconds, so that the repository holds no secret and nothing expires. */
export function testCertificates(): TestCertificates {
  const authority = makeAuthority('collector test authority');
  const otherAuthority = makeAuthority('another test authority');
  const intermediate = makeAuthority('intermediate test authority', authority);
  return {
    ca: pemOf(authority).cert,
    server: issue(authority),
    expired: issue(authority, { validFrom: inDays(-30), validTo: inDays(-2) }),
    otherHost: issue(authority, { extensions: ofServer('elsewhere.example') }),
    ofOtherCa: issue(otherAuthority),
    otherCa: pemOf(otherAuthority).cert,
    intermediate: pemOf(intermediate).cert,
    ofIntermediate: issue(intermediate),
  };
}

function issue(issuer: Issuer, options: Partial<CertificateOptions> = {}): ServerCertificate {
  const extensions = ofServer('localhost', '127.0.0.1');
  return pemOf(issueCertificate({ ...valid, name: 'test service', issuer, extensions, ...options }));
}

function makeAuthority(name: string, issuer?: Issuer): Issuer {
  return issueCertificate({ ...valid, name, issuer, extensions: ofIssuer() });
}
