import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeCertificate } from './tls-certificate';

/** PEM texts, as servers of node:https and node:tls take them. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

export interface TestCertificates {
  /** The private authority's certificate (PEM): what a client is told to trust. */
  readonly ca: string;
  /** Good for `localhost` and 127.0.0.1, signed by `ca`. */
  readonly server: ServerCertificate;
  /** Like `server`, but its time is over. */
  readonly expired: ServerCertificate;
  /** Like `server`, but for another host. */
  readonly otherHost: ServerCertificate;
  /** Like `server`, but signed by `otherCa`. */
  readonly ofOtherCa: ServerCertificate;
  readonly otherCa: string;
}

const day = 24 * 3600 * 1000;
const loopback = { dnsNames: ['localhost'], ipv4: ['127.0.0.1'] };

/** Makes new keys and certificates, within milliseconds; nothing secret is in the repository and nothing runs out. */
export function testCertificates(): TestCertificates {
  const authority = makeAuthority('collector test authority');
  const otherAuthority = makeAuthority('another test authority');
  return {
    ca: authority.cert,
    server: makeServer(authority, loopback),
    expired: makeServer(authority, loopback, { notBefore: daysFromNow(-30), notAfter: daysFromNow(-2) }),
    otherHost: makeServer(authority, { dnsNames: ['elsewhere.example'], ipv4: [] }),
    ofOtherCa: makeServer(otherAuthority, loopback),
    otherCa: otherAuthority.cert,
  };
}

interface Authority {
  readonly name: string;
  readonly key: KeyObject;
  readonly cert: string;
}

function makeAuthority(name: string): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = writeCertificate({ subject: name, issuer: name, publicKey, signingKey: privateKey, ...valid() });
  return { name, key: privateKey, cert };
}

function makeServer(authority: Authority, names: typeof loopback, time = valid()): ServerCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = writeCertificate({
    subject: 'test service',
    issuer: authority.name,
    publicKey,
    signingKey: authority.key,
    server: names,
    ...time,
  });
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert };
}

function valid() {
  return { notBefore: daysFromNow(-2), notAfter: daysFromNow(365) };
}

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * day);
}
