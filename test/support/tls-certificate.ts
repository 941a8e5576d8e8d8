import { createSign, type KeyObject, randomBytes } from 'node:crypto';

/** What one certificate says. Names are the subject's and issuer's common names. */
export interface CertificateRequest {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  /** The issuer's P-256 key. */
  readonly signingKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Left out: the certificate of an authority. */
  readonly server?: { readonly dnsNames: readonly string[]; readonly ipv4: readonly string[] };
}

/**
 * An X.509 v3 certificate (RFC 5280) as PEM. node:crypto reads certificates but does not make any, and openssl is not on
 * every machine; key files in the repository would expire and would alarm every secret scanner.
 */
export function writeCertificate(request: CertificateRequest): string {
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
    extension(objectId(2, 5, 29, 19), sequence(yes), 'critical'), // basicConstraints: is an authority
    extension(objectId(2, 5, 29, 15), bitString(1, Buffer.from([0x06])), 'critical'), // keyUsage: certificates, CRLs
  ];
}

function serverExtensions({ dnsNames, ipv4 }: NonNullable<CertificateRequest['server']>): Buffer[] {
  const names = [
    ...dnsNames.map((name) => tagged(0x82, Buffer.from(name, 'ascii'))),
    ...ipv4.map((address) => tagged(0x87, Buffer.from(address.split('.').map(Number)))),
  ];
  return [
    extension(objectId(2, 5, 29, 19), sequence(), 'critical'), // basicConstraints: is none
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
    for (let left = value >>> 7; left > 0; left >>>= 7) {
      digits.unshift((left & 0x7f) | 0x80);
    }
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
