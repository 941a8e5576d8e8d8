import type { X509Certificate } from 'node:crypto';
import { DerReader, derTag } from '../../format/der';

const timeStamping = '1.3.6.1.5.5.7.3.8';
const extensionNames = { keyUsage: '2.5.29.15', extendedKeyUsage: '2.5.29.37', basicConstraints: '2.5.29.19' } as const;

/** Critical extensions that openssl knows, and that do not limit what is judged here. Any other refuses the certificate. */
const knownExtensions: ReadonlySet<string> = new Set([
  ...Object.values(extensionNames),
  // Names, policies and where to ask for revocation.
  ...['17', '31', '32', '33', '36', '54'].map((last) => `2.5.29.${last}`),
]);

/** Bits of the first octet of a KeyUsage (RFC 5280, 4.2.1.3). */
const usages = { digitalSignature: 0x80, nonRepudiation: 0x40, keyCertSign: 0x04 } as const;

export interface PathOptions {
  /** Any others, which may lead to a root. Each is looked at once. */
  readonly certificates: readonly X509Certificate[];
  readonly roots: readonly X509Certificate[];
  /** When all of them have to be valid. */
  readonly time: Date;
}

/**
 * The root that a certificate of time stamping leads to; undefined: none, or it is of another use. The use has to be the only
 * one, and critical (RFC 3161, 2.3). What openssl refuses is refused here: `ts -verify` is what an auditor has.
 * @throws DerError; also what node:crypto throws
 */
export function rootOf(
  certificate: X509Certificate,
  { certificates, roots, time }: PathOptions,
): X509Certificate | undefined {
  if (!maySignStamps(certificate) || !isUsable(certificate, time)) return undefined;
  // A certificate that others signed is not a root, whoever trusts it: it may lead to one.
  const trusted = roots.filter((one) => isSelfSigned(one) && isUsable(one, time));
  const left = new Set([...certificates, ...roots].filter((one) => !trusted.includes(one)));
  // The nearest first: a path may not be longer than an issuer allows.
  const reached = [{ certificate, below: 0 }];
  for (const { certificate: one, below } of reached) {
    const isBy = (issuer: X509Certificate) =>
      one.checkIssued(issuer) && mayIssue(issuer, below) && one.verify(issuer.publicKey);
    const root = trusted.find(isBy);
    if (root !== undefined) return root;
    for (const issuer of left) {
      if (!isUsable(issuer, time) || !isBy(issuer)) continue;
      left.delete(issuer);
      reached.push({ certificate: issuer, below: below + (issuer.subject === issuer.issuer ? 0 : 1) });
    }
  }
  return undefined;
}

function maySignStamps(certificate: X509Certificate): boolean {
  const { keyUsage } = certificate;
  const extended = extensionOf(certificate, extensionNames.extendedKeyUsage);
  if (extended?.isCritical !== true || keyUsage?.length !== 1 || keyUsage[0] !== timeStamping) return false;
  const bits = usageBits(certificate);
  const wanted = usages.digitalSignature | usages.nonRepudiation;
  return bits === undefined || ((bits.first & wanted) !== 0 && (bits.first & ~wanted) === 0 && !bits.hasMore);
}

/** Whether a certificate is valid at a time, and has no critical extension that is not known here. */
function isUsable(certificate: X509Certificate, time: Date): boolean {
  const { validFrom, validTo } = certificate;
  if (Date.parse(validFrom) > time.getTime() || time.getTime() > Date.parse(validTo)) return false;
  for (const { name, isCritical } of extensionsOf(certificate))
    if (isCritical && !knownExtensions.has(name)) return false;
  return true;
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
}

/** @param below certificates between the issuer and the one that signs stamps, without those that name themselves as issuer */
function mayIssue(issuer: X509Certificate, below: number): boolean {
  const bits = usageBits(issuer);
  if (bits !== undefined && (bits.first & usages.keyCertSign) === 0) return false;
  const value = extensionOf(issuer, extensionNames.basicConstraints)?.value;
  if (value === undefined) return false;
  const constraints = new DerReader(value, 'basicConstraints').within('BasicConstraints');
  if (constraints.optional(derTag.boolean)?.content[0] !== 0xff) return false;
  const longest = constraints.optional(derTag.integer)?.content;
  return longest === undefined || below <= longest.readUIntBE(0, Math.min(longest.length, 6));
}

/** The bits of a KeyUsage; undefined: there is none, and any use is allowed. */
function usageBits(certificate: X509Certificate): { readonly first: number; readonly hasMore: boolean } | undefined {
  const value = extensionOf(certificate, extensionNames.keyUsage)?.value;
  if (value === undefined) return undefined;
  const [, first = 0, ...more] = new DerReader(value, 'keyUsage').take(derTag.bits).content;
  return { first, hasMore: more.some((octet) => octet !== 0) };
}

/** As a signer is named in CMS (RFC 5652, 10.2.4). @throws DerError */
export function issuerAndSerialOf({ raw }: X509Certificate): Buffer {
  const fields = fieldsOf(raw);
  fields.optional(derTag.context(0));
  const serial = fields.take(derTag.integer);
  fields.take(derTag.sequence);
  return Buffer.concat([fields.take(derTag.sequence).whole, serial.whole]);
}

function fieldsOf(certificate: Buffer): DerReader {
  return new DerReader(certificate, 'Certificate').within('Certificate').within('TBSCertificate');
}

interface Extension {
  readonly name: string;
  readonly isCritical: boolean;
  readonly value: Buffer;
}

function extensionOf(certificate: X509Certificate, name: string): Extension | undefined {
  for (const extension of extensionsOf(certificate)) if (extension.name === name) return extension;
  return undefined;
}

/** node:crypto does not say whether an extension is critical. */
function* extensionsOf({ raw }: X509Certificate): Generator<Extension> {
  const fields = fieldsOf(raw);
  while (!fields.isAtEnd) {
    const field = fields.next();
    if (field.tag !== derTag.context(3)) continue;
    for (const list = new DerReader(field.content, '[3]').within('Extensions'); !list.isAtEnd; ) {
      const extension = list.within('Extension');
      const name = extension.oid();
      const isCritical = extension.optional(derTag.boolean)?.content[0] === 0xff;
      yield { name, isCritical, value: extension.take(derTag.octetString).content };
    }
  }
}
