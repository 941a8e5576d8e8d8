import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

/** PEM texts, as servers of node:https and node:tls take them. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

/** A private certificate authority. */
export interface Authority {
  readonly name: string;
  readonly key: KeyObject;
  /** Its certificate (PEM), which clients have to trust. */
  readonly cert: string;
}

interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

interface HostNames {
  readonly dnsNames: readonly string[];
  readonly ipv4: readonly string[];
}

const loopback: HostNames = { dnsNames: ['localhost'], ipv4: ['127.0.0.1'] };

/** Makes an authority with a new key. It takes milliseconds, so that no key has to be kept in the repository. */
export function createAuthority(name: string): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = writeCertificate({ subject: name, issuer: name, publicKey, signingKey: privateKey, ...oneYear() });
  return { name, key: privateKey, cert };
}

/** Makes a new key and a certificate for it, signed by the authority. Left out: for `localhost` and 127.0.0.1, valid now. */
export function issueServerCertificate(
  authority: Authority,
  { server = loopback, validity = oneYear() }: { readonly server?: HostNames; readonly validity?: Validity } = {},
): ServerCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = writeCertificate({
    subject: 'test service',
    issuer: authority.name,
    publicKey,
    signingKey: authority.key,
    server,
    ...validity,
  });
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert };
}

function oneYear(): Validity {
  const day = 24 * 3600 * 1000;
  // Clocks may differ.
  return { notBefore: new Date(Date.now() - 2 * day), notAfter: new Date(Date.now() + 365 * day) };
}

interface CertificateRequest extends Validity {
  /** Common name. */
  readonly subject: string;
  /** Common name. */
  readonly issuer: string;
  readonly publicKey: KeyObject;
  /** The issuer's P-256 key. */
  readonly signingKey: KeyObject;
  /** Left out: the certificate of an authority. */
  readonly server?: HostNames;
}

/**
 * An X.509 v3 certificate (RFC 5280) as PEM. node:crypto reads certificates but cannot make them, and not every machine
 * has openssl. Files in the repository would expire, and secret scanners would report their keys.
 */
function writeCertificate(request: CertificateRequest): string {
  const signatureAlgorithm = sequence(objectId(1, 2, 840, 10045, 4, 3, 2)); // ecdsa-with-SHA256
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])), // serial number: positive, 16 bytes
    signatureAlgorithm,
    commonName(request.issuer),
    sequence(utcTime(request.notBefore), utcTime(request.notAfter)),
    commonName(request.subject),
    request.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...(request.server ? serverExtensions(request.server) : authorityExtensions()))),
  );
  const signature = createSign('sha256').update(body).sign(request.signingKey);
  const certificate = sequence(body, signatureAlgorithm, bitString(0, signature));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function authorityExtensions(): Buffer[] {
  return [
    extension(objectId(2, 5, 29, 19), sequence(yes), 'critical'), // basicConstraints: an authority
    extension(objectId(2, 5, 29, 15), bitString(1, Buffer.from([0x06])), 'critical'), // keyUsage: certificates, CRLs
  ];
}

function serverExtensions({ dnsNames, ipv4 }: HostNames): Buffer[] {
  const names = [
    ...dnsNames.map((name) => tagged(0x82, Buffer.from(name, 'ascii'))),
    ...ipv4.map((address) => tagged(0x87, Buffer.from(address.split('.').map(Number)))),
  ];
  return [
    extension(objectId(2, 5, 29, 19), sequence(), 'critical'), // basicConstraints: not an authority
    extension(objectId(2, 5, 29, 15), bitString(7, Buffer.from([0x80])), 'critical'), // keyUsage: digital signature
    extension(objectId(2, 5, 29, 37), sequence(objectId(1, 3, 6, 1, 5, 5, 7, 3, 1))), // extendedKeyUsage: server
    extension(objectId(2, 5, 29, 17), sequence(...names)), // subjectAltName
  ];
}

const yes = tagged(0x01, Buffer.from([0xff]));

function extension(id: Buffer, value: Buffer, critical?: 'critical'): Buffer {
  return sequence(id, ...(critical ? [yes] : []), tagged(0x04, value));
}

function commonName(name: string): Buffer {
  return sequence(tagged(0x31, sequence(objectId(2, 5, 4, 3), tagged(0x0c, Buffer.from(name)))));
}

/** UTCTime holds years up to 2049: YYMMDDHHMMSSZ. */
function utcTime(time: Date): Buffer {
  const digits = time.toISOString().replace(/\D/g, '').slice(2, 14);
  return tagged(0x17, Buffer.from(`${digits}Z`));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function bitString(unusedBits: number, bytes: Buffer): Buffer {
  return tagged(0x03, Buffer.from([unusedBits]), bytes);
}

function objectId(first: number, second: number, ...rest: number[]): Buffer {
  const base128 = (value: number): number[] => {
    const digits = [value & 0x7f];
    for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  };
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

/** One DER element: tag, length, content. */
function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const long = content.length.toString(16);
  const lengthBytes = Buffer.from(long.padStart(long.length + (long.length % 2), '0'), 'hex');
  const length = content.length < 0x80 ? [content.length] : [0x80 | lengthBytes.length, ...lengthBytes];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
