import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { DamagedObjectError, parseJson } from './damaged-object-error';
import { type Seal, type Signature, sealSchema, signatureSchema } from './seal';

/** Longest line of a signature that is read, in bytes. */
const largestSignatureBytes = 64 * 1024;

/** The first line of a seal's file, signed with the key that the second names. */
export interface SignedLine {
  /** Without its newline. */
  readonly bytes: Buffer;
  readonly sha256: string;
  /** SPKI in DER, base64. */
  readonly publicKey: string;
}

/** The first line of a seal's file, without its newline. */
export function sealLine(seal: Seal): Buffer {
  return Buffer.from(JSON.stringify(seal));
}

/** A seal's file: its two lines. */
export function sealFile(line: Buffer, signature: Signature): Buffer {
  return Buffer.concat([line, Buffer.from(`\n${JSON.stringify(signature)}\n`)]);
}

/** The first line. @throws DamagedObjectError if its signature proves nothing */
export function readSignedLine(bytes: Buffer): SignedLine {
  const end = bytes.indexOf('\n');
  if (end < 0 || bytes.indexOf('\n', end + 1) !== bytes.length - 1 || end === bytes.length - 1)
    throw new DamagedObjectError('it does not have exactly two lines');
  if (bytes.length - end > largestSignatureBytes)
    throw new DamagedObjectError('its second line is too long for a signature');
  const line = bytes.subarray(0, end);
  const sha256 = sha256Of(line);
  const text = bytes.subarray(end + 1, -1);
  const signature = signatureSchema.safeParse(parseJson(text)).data;
  // Nobody signs the second line: with another member, or one twice, it could hold hashes that a check by hand takes for sealed.
  if (signature === undefined || !text.equals(Buffer.from(JSON.stringify(signature))))
    throw new DamagedObjectError('the line of its signature does not have exactly its four members');
  const key = parsePublicKey(signature.publicKey);
  if (key === undefined) throw new DamagedObjectError('the line of its signature has no public key that can be read');
  if (signature.sha256 !== sha256)
    throw new DamagedObjectError('its signature is of another content: the seal was changed after it was signed');
  if (!verify('sha256', Buffer.from(sha256), key, Buffer.from(signature.signature, 'base64')))
    throw new DamagedObjectError('its signature is wrong: it was not made with the key it names');
  return { bytes: line, sha256, publicKey: signature.publicKey };
}

/** The seal, or why it is not one. Whoever calls it trusts the signature: a line of 64 MB may need gigabytes. */
export function parseSeal(line: Buffer): Seal | string {
  let json: unknown;
  try {
    json = parseJson(line);
  } catch (error) {
    if (error instanceof DamagedObjectError) return error.message;
    throw error;
  }
  if (typeof json === 'object' && json !== null && 'cursor' in json && !('state' in json))
    return 'it was made by an unreleased version that kept its state in the seal (9a59bbd or earlier), which this version does not read';
  const { success, data, error } = sealSchema.safeParse(json);
  if (success) return data;
  const [issue] = error.issues;
  return `it is not a valid seal: ${issue?.path.map(String).join('.') || 'it'}: ${issue?.message}`;
}

export function sha256Of(bytes: Buffer): string {
  return hash('sha256', bytes);
}

/** SPKI in DER, base64, as signatures have it. */
export function spkiOf(key: KeyObject): string {
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}

/** The key that was parsed last: nearly all seals name the same, and parsing it takes a third of the time of a seal. */
let last: { readonly base64: string; readonly key: KeyObject | undefined } | undefined;

/** The public key in SPKI, DER and base64; undefined if it is not one of the curve P-256, as those that sign seals are. */
export function parsePublicKey(base64: string): KeyObject | undefined {
  if (last?.base64 !== base64) last = { base64, key: parseKey(base64) };
  return last.key;
}

function parseKey(base64: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    // OpenSSL has no error class; whatever it says, these bytes are not a public key.
    return undefined;
  }
}
