import { randomBytes } from 'node:crypto';

/** A question to an authority. */
export interface StampRequest {
  /** A TimeStampReq (RFC 3161, 2.4.1), which asks for the authority's certificates too. */
  readonly bytes: Buffer;
  /** What the answer has to repeat. */
  readonly nonce: Buffer;
}

/** Everything has a fixed length, so that only these bytes lie around the hash and the nonce. */
const start = Buffer.from('3043020101' + '3031300d06096086480165030402010500' + '0420', 'hex');
const beforeNonce = Buffer.from('0208', 'hex');
const certReq = Buffer.from('0101ff', 'hex');

/** @param sha256 32 bytes that are to be stamped */
export function stampRequest(sha256: Buffer): StampRequest {
  const nonce = randomBytes(8);
  // A positive INTEGER of just eight bytes.
  nonce.writeUInt8((nonce.readUInt8(0) & 0x3f) | 0x40);
  return { bytes: Buffer.concat([start, sha256, beforeNonce, nonce, certReq]), nonce };
}
