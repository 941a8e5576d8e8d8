import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { bits, context, der, generalizedTime, integer, octets, oid, sequence, set, yes } from './write-der';

/** A certificate with its key. */
export interface Issuer {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

export interface CertificateOptions {
  readonly name: string;
  /** Left out: it signs itself. */
  readonly issuer?: Issuer;
  /** Left out: a new one. */
  readonly key?: KeyObject;
  readonly validFrom: Date;
  readonly validTo: Date;
  /** Extensions, as {@link extension} makes them. */
  readonly extensions: readonly Buffer[];
}

export const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));

/** Makes a certificate (RFC 5280), and its key on P-256. */
export function issueCertificate({ name, issuer, key, validFrom, validTo, extensions }: CertificateOptions): Issuer {
  const privateKey = key ?? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const subject = nameOf(name);
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const serial = createHash('sha256').update(spki).digest().subarray(0, 8);
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
  const fields = sequence(
    context(0, integer(2)),
    der(0x02, serial),
    ecdsaWithSha256,
    issuer === undefined ? subject : subjectOf(issuer.certificate),
    sequence(generalizedTime(validFrom), generalizedTime(validTo)),
    subject,
    spki,
    context(3, sequence(...extensions)),
  );
  const signature = bits(sign('sha256', fields, issuer?.key ?? privateKey));
  return { certificate: new X509Certificate(sequence(fields, ecdsaWithSha256, signature)), key: privateKey };
}

export function extension(name: string, value: Buffer, isCritical = true): Buffer {
  return sequence(oid(name), ...(isCritical ? [yes] : []), octets(value));
}

/** The extensions of a certificate that may issue others. @param longest certificates between it and the last one */
export function ofIssuer(longest?: number): Buffer[] {
  const limit = longest === undefined ? [] : [integer(longest)];
  return [extension('2.5.29.19', sequence(yes, ...limit)), extension('2.5.29.15', Buffer.from('03020204', 'hex'))];
}

/** The extension of a certificate that may sign time stamps. @param others uses that it must not have besides */
export function ofStamps({ isCritical = true, others = [] as readonly string[] } = {}): Buffer[] {
  const uses = ['1.3.6.1.5.5.7.3.8', ...others].map(oid);
  return [extension('2.5.29.37', sequence(...uses), isCritical)];
}

/** The extension of a certificate of a server. @param hosts names, and addresses of IPv4 */
export function ofServer(...hosts: readonly string[]): Buffer[] {
  const names = hosts.map((host) =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  );
  return [extension('2.5.29.17', sequence(...names), false)];
}

/** PEM texts, as a server of node:https takes them. */
export function pemOf({ certificate, key }: Issuer) {
  return { key: key.export({ type: 'pkcs8', format: 'pem' }).toString(), cert: certificate.toString() };
}

function nameOf(name: string): Buffer {
  return sequence(set(sequence(oid('2.5.4.3'), der(0x0c, Buffer.from(name)))));
}

/** Our certificates have one common name and nothing else. */
function subjectOf({ subject }: X509Certificate): Buffer {
  return nameOf(subject.replace(/^CN=/, ''));
}
