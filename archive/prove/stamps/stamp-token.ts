import { X509Certificate } from 'node:crypto';
import { DerError, DerReader, derTag } from '../../format/der';

/** What a TimeStampResp (RFC 3161, 2.4.2) holds. */
export interface StampToken {
  /** The bytes of the TSTInfo, which are what is signed. */
  readonly info: Buffer;
  readonly time: Date;
  /** SHA-256 that is stamped. */
  readonly sha256: Buffer;
  readonly nonce: Buffer | undefined;
  /** All certificates that the token carries. */
  readonly certificates: readonly X509Certificate[];
  readonly signer: TokenSigner;
}

export interface TokenSigner {
  readonly digest: string;
  readonly keyType: 'rsa' | 'ec';
  /** Of the certificate whose key signed. */
  readonly issuerAndSerial: Buffer;
  readonly signature: Buffer;
  /** What is signed: the attributes byte for byte, but with the tag of a SET (RFC 5652, 5.4). */
  readonly signed: Buffer;
  /** Of the content, by the attributes. */
  readonly messageDigest: Buffer;
  /** Hash of that certificate, signed with the rest: ESSCertID or ESSCertIDv2 (RFC 5035). */
  readonly certificate: { readonly digest: string; readonly hash: Buffer };
}

/** Most certificates that a token may carry: each may be compared with each. Those seen carry up to 4. */
const mostCertificates = 16;

const oids = {
  signedData: '1.2.840.113549.1.7.2',
  tstInfo: '1.2.840.113549.1.9.16.1.4',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
} as const;

const digests: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

/** Signature algorithms that count, by the type of their key; `digest` where the name says that too. */
const signatures: Readonly<Record<string, { readonly keyType: 'rsa' | 'ec'; readonly digest?: string }>> = {
  '1.2.840.113549.1.1.1': { keyType: 'rsa' },
  '1.2.840.113549.1.1.11': { keyType: 'rsa', digest: 'sha256' },
  '1.2.840.113549.1.1.12': { keyType: 'rsa', digest: 'sha384' },
  '1.2.840.113549.1.1.13': { keyType: 'rsa', digest: 'sha512' },
  '1.2.840.10045.4.3.2': { keyType: 'ec', digest: 'sha256' },
  '1.2.840.10045.4.3.3': { keyType: 'ec', digest: 'sha384' },
  '1.2.840.10045.4.3.4': { keyType: 'ec', digest: 'sha512' },
};

/**
 * Reads what an authority answered, and checks nothing but its form.
 * @throws DerError; also what node:crypto throws of a certificate that it cannot read
 */
export function readStampResponse(bytes: Buffer): StampToken {
  const file = new DerReader(bytes, 'the answer');
  const response = file.within('TimeStampResp');
  file.end();
  const status = response.within('PKIStatusInfo').take(derTag.integer).content.toString('hex');
  // 0: granted; 1: granted with modifications, which are then compared with the request.
  if (status !== '00' && status !== '01') throw new DerError(`the authority refused, with the status 0x${status}`);
  const token = response.within('ContentInfo');
  response.end();
  demand(token.oid(), oids.signedData);
  const data = token.within('content', derTag.context(0)).within('SignedData');
  data.take(derTag.integer);
  const digest = digestOf(data.within('digestAlgorithms', derTag.set));
  const encapsulated = data.within('EncapsulatedContentInfo');
  demand(encapsulated.oid(), oids.tstInfo);
  const info = encapsulated.within('eContent', derTag.context(0)).take(derTag.octetString).content;
  const certificates = new DerReader(data.optional(derTag.context(0))?.content ?? Buffer.alloc(0), 'certificates');
  data.optional(derTag.context(1));
  const signers = data.within('SignerInfos', derTag.set);
  const signer = readSigner(signers.within('SignerInfo'));
  signers.end();
  data.end();
  demand(signer.digest, digest);
  const carried: X509Certificate[] = [];
  while (!certificates.isAtEnd) {
    if (carried.length === mostCertificates)
      throw new DerError(`it carries more than ${mostCertificates} certificates`);
    carried.push(new X509Certificate(certificates.take(derTag.sequence).whole));
  }
  return { info, ...readInfo(info), certificates: carried, signer };
}

function demand(found: string, expected: string): void {
  if (found !== expected) throw new DerError(`it says ${found} where ${expected} has to be`);
}

/** Reads a TSTInfo (RFC 3161, 2.4.2). */
function readInfo(bytes: Buffer): Pick<StampToken, 'time' | 'sha256' | 'nonce'> {
  const file = new DerReader(bytes, 'eContent');
  const info = file.within('TSTInfo');
  file.end();
  info.take(derTag.integer);
  info.oid();
  const imprint = info.within('MessageImprint');
  if (digestOf(imprint) !== 'sha256') throw new DerError('it does not stamp a SHA-256');
  const sha256 = imprint.take(derTag.octetString).content;
  info.take(derTag.integer);
  const time = readTime(info.take(derTag.generalizedTime).content.toString('latin1'));
  info.optional(derTag.sequence);
  info.optional(derTag.boolean);
  return { time, sha256, nonce: info.optional(derTag.integer)?.content };
}

/** A GeneralizedTime in UTC, with or without fractions of a second. */
function readTime(text: string): Date {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d+)?Z$/.exec(text) ?? [];
  const [year, month, day, hour, minute, second, fraction = ''] = parts;
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}Z`);
  if (Number.isNaN(time.getTime())) throw new DerError(`it states the time ${JSON.stringify(text)}`);
  return time;
}

/** The digest that the next element, an AlgorithmIdentifier, names. */
function digestOf(reader: DerReader): string {
  const name = algorithmOf(reader);
  const digest = digests[name];
  if (digest === undefined) throw new DerError(`the digest ${name} is not supported`);
  return digest;
}

/** The algorithms that count have no parameters. */
function algorithmOf(reader: DerReader): string {
  const algorithm = reader.within('AlgorithmIdentifier');
  const name = algorithm.oid();
  algorithm.optional(derTag.null);
  algorithm.end();
  return name;
}

function readSigner(signer: DerReader): TokenSigner {
  signer.take(derTag.integer);
  const issuerAndSerial = signer.take(derTag.sequence).content;
  const digest = digestOf(signer);
  const attributes = signer.take(derTag.context(0));
  const algorithm = algorithmOf(signer);
  const known = signatures[algorithm];
  if (known === undefined || (known.digest ?? digest) !== digest)
    throw new DerError(`the signature ${algorithm} with ${digest} is not supported`);
  const signature = signer.take(derTag.octetString).content;
  const signed = Buffer.from(attributes.whole);
  signed[0] = derTag.set;
  return { digest, keyType: known.keyType, issuerAndSerial, signature, signed, ...readAttributes(attributes.content) };
}

function readAttributes(bytes: Buffer): Pick<TokenSigner, 'messageDigest' | 'certificate'> {
  const values = new Map<string, Buffer>();
  for (const reader = new DerReader(bytes, 'signedAttrs'); !reader.isAtEnd; ) {
    const attribute = reader.within('Attribute');
    const type = attribute.oid();
    if (values.has(type)) throw new DerError(`it has the attribute ${type} twice`);
    values.set(type, attribute.take(derTag.set).content);
  }
  const readAttribute = (type: string) => {
    const value = values.get(type);
    if (value === undefined) throw new DerError(`it lacks the signed attribute ${type}`);
    return new DerReader(value, 'Attribute');
  };
  demand(readAttribute(oids.contentType).oid(), oids.tstInfo);
  const messageDigest = readAttribute(oids.messageDigest).take(derTag.octetString).content;
  const isSecond = values.has(oids.signingCertificateV2);
  const signing = readAttribute(isSecond ? oids.signingCertificateV2 : oids.signingCertificate);
  const id = signing.within('SigningCertificate').within('certs').within('ESSCertID');
  const algorithm = isSecond ? id.optional(derTag.sequence) : undefined;
  const named = algorithm && digestOf(new DerReader(algorithm.whole, 'ESSCertIDv2'));
  const digest = named ?? (isSecond ? 'sha256' : 'sha1');
  return { messageDigest, certificate: { digest, hash: id.take(derTag.octetString).content } };
}
