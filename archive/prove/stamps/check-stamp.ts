import { createHash, verify, type X509Certificate } from 'node:crypto';
import { issuerAndSerialOf, rootOf } from './certificate-chain';
import { readStampResponse } from './stamp-token';

/** A time that a third party signed. */
export interface Stamp {
  /** What was stamped existed before this time, says the authority. */
  readonly time: Date;
  /** The trusted certificate that the authority's leads to. */
  readonly root: X509Certificate;
}

export interface StampExpectation {
  /** 32 bytes that were to be stamped. */
  readonly sha256: Buffer;
  /** Of the request; left out: it was compared when the stamp was stored. */
  readonly nonce?: Buffer;
  /** What the user trusts. Certificates in the answer only lead there. */
  readonly roots: readonly X509Certificate[];
}

/** An answer is not a stamp that counts. */
export class StampError extends Error {
  override readonly name = 'StampError';
}

/**
 * Checks the whole answer of an authority (RFC 3161, 2.4.2). Certificates are judged at the time that it states, so that a
 * stamp stays right when they end. Revocation is not looked at.
 * @throws StampError if it does not count
 */
export function checkStamp(response: Buffer, { sha256, nonce, roots }: StampExpectation): Stamp {
  const { info, certificates, signer, ...stated } = orStampError(() => readStampResponse(response));
  if (!stated.sha256.equals(sha256)) throw new StampError('it is of another hash');
  if (nonce !== undefined && stated.nonce?.equals(nonce) !== true)
    throw new StampError('it does not repeat the nonce of its request');
  if (!hashOf(signer.digest, info).equals(signer.messageDigest)) throw new StampError('another content was signed');
  const { digest, hash } = signer.certificate;
  const certificate = certificates.find(({ raw }) => hashOf(digest, raw).equals(hash));
  if (certificate === undefined || !orStampError(() => issuerAndSerialOf(certificate)).equals(signer.issuerAndSerial))
    throw new StampError('it does not carry the certificate of its signature');
  const publicKey = orStampError(() => certificate.publicKey);
  if (publicKey.asymmetricKeyType !== signer.keyType) throw new StampError('its signature is of another type of key');
  if (!orStampError(() => verify(signer.digest, signer.signed, publicKey, signer.signature)))
    throw new StampError('its signature is wrong');
  const root = orStampError(() => rootOf(certificate, { certificates, roots, time: stated.time }));
  if (root === undefined)
    throw new StampError('its certificate is not one of time stamping that leads to a trusted root at its time');
  return { time: stated.time, root };
}

function hashOf(digest: string, bytes: Uint8Array): Buffer {
  return createHash(digest).update(bytes).digest();
}

/** node:crypto throws errors of its own, of certificates and keys that it cannot read. */
function orStampError<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StampError(`it is not a time stamp that can be read: ${reason}`, { cause: error });
  }
}
