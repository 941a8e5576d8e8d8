import { createPublicKey, type KeyObject, type PublicKeyInput, verify } from 'node:crypto';
import { type Signature, signatureSchema } from './seal';

export interface CheckedSignature {
  /** SPKI in DER, base64; undefined if the line does not say it. */
  readonly publicKey?: string;
  /** What is wrong with the signature; undefined if nothing is. */
  readonly problem?: string;
}

/** Checks the line of a signature against the hash of its seal's line, with the key that it names. */
export function checkSignature(text: string, sha256: string): CheckedSignature {
  const signature = parseSignature(text);
  if (signature === undefined) return { problem: 'the line of its signature is not valid' };
  const key = parsePublicKey(signature.publicKey);
  if (key === undefined) return { problem: 'the line of its signature has no public key that can be read' };
  const publicKey = spkiOf(key);
  if (signature.sha256 !== sha256)
    return { publicKey, problem: 'its signature is of another content: the seal was changed after it was signed' };
  const isRight = verify('sha256', Buffer.from(sha256), key, Buffer.from(signature.signature, 'base64'));
  return isRight
    ? { publicKey }
    : { publicKey, problem: 'its signature is wrong: it was not made with the key it names' };
}

function parseSignature(text: string): Signature | undefined {
  try {
    return signatureSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** SPKI in DER, base64, as signatures have it. */
export function spkiOf(key: KeyObject): string {
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}

/** The public key in SPKI, DER and base64; undefined if it is none that signs seals. */
export function parsePublicKey(base64: string): KeyObject | undefined {
  return sealKeyOf({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
}

/** A public key of the curve P-256, as those that sign seals are; undefined for anything else. */
export function sealKeyOf(input: PublicKeyInput | string): KeyObject | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey(input);
  } catch {
    // OpenSSL has no error class; whatever it says, these bytes are no public key.
    return undefined;
  }
  return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
}
