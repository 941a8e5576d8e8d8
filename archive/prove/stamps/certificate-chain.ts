import type { X509Certificate } from 'node:crypto';
import { DerReader, derTag } from './der';

const timeStamping = '1.3.6.1.5.5.7.3.8';
const extensionNames = { keyUsages: '2.5.29.37', basicConstraints: '2.5.29.19' } as const;

/** Most certificates between that of the signature and the root. */
const mostIntermediates = 4;

export interface ChainOptions {
  /** Any others, which may lead to a root. */
  readonly certificates: readonly X509Certificate[];
  readonly roots: readonly X509Certificate[];
  /** When all of them have to be valid. */
  readonly time: Date;
}

/**
 * The root that a certificate of time stamping leads to; undefined: none, or it is of another use. The use has to be the only
 * one, and critical (RFC 3161, 2.3).
 * @throws DerError; also what node:crypto throws
 */
export function rootOf(certificate: X509Certificate, options: ChainOptions): X509Certificate | undefined {
  const usage = extensionOf(certificate, extensionNames.keyUsages);
  const isForStamps =
    usage?.isCritical === true && certificate.keyUsage?.length === 1 && certificate.keyUsage[0] === timeStamping;
  return isForStamps ? issuerRoot(certificate, 0, options) : undefined;
}

/** @param depth number of intermediate certificates below the issuer that is looked for */
function issuerRoot(certificate: X509Certificate, depth: number, options: ChainOptions): X509Certificate | undefined {
  const { certificates, roots, time } = options;
  if (!isValid(certificate, time)) return undefined;
  const signedBy = (issuer: X509Certificate) =>
    certificate.checkIssued(issuer) && mayIssue(issuer, depth) && certificate.verify(issuer.publicKey);
  const root = roots.find((one) => isValid(one, time) && signedBy(one));
  if (root !== undefined || depth === mostIntermediates) return root;
  for (const issuer of certificates) {
    const found = signedBy(issuer) ? issuerRoot(issuer, depth + 1, options) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function isValid({ validFrom, validTo }: X509Certificate, time: Date): boolean {
  return Date.parse(validFrom) <= time.getTime() && time.getTime() <= Date.parse(validTo);
}

function mayIssue(issuer: X509Certificate, depth: number): boolean {
  const value = extensionOf(issuer, extensionNames.basicConstraints)?.value;
  if (value === undefined) return false;
  const constraints = new DerReader(value, 'basicConstraints').within('BasicConstraints');
  if (constraints.optional(derTag.boolean)?.content[0] !== 0xff) return false;
  const longest = constraints.optional(derTag.integer)?.content;
  return longest === undefined || depth <= longest.readUIntBE(0, Math.min(longest.length, 6));
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

/** node:crypto does not say whether an extension is critical. */
function extensionOf({ raw }: X509Certificate, name: string): { isCritical: boolean; value: Buffer } | undefined {
  const fields = fieldsOf(raw);
  while (!fields.isAtEnd) {
    const field = fields.next();
    if (field.tag !== derTag.context(3)) continue;
    for (const list = new DerReader(field.content, '[3]').within('Extensions'); !list.isAtEnd; ) {
      const extension = list.within('Extension');
      if (extension.oid() !== name) continue;
      const isCritical = extension.optional(derTag.boolean)?.content[0] === 0xff;
      return { isCritical, value: extension.take(derTag.octetString).content };
    }
  }
  return undefined;
}
