import { randomBytes, X509Certificate } from 'node:crypto';
import type { StampAuthority } from '../../format/plan';
import { checkStamp, type Stamp, StampError } from './check-stamp';

export interface StampedAnswer extends Stamp {
  /** The whole answer, as it is stored. */
  readonly response: Buffer;
}

/** The longest that an authority may take, in milliseconds: of the ten seconds it has, two are for the check of its answer. */
const patienceMs = 8000;
/** The longest answer. Those seen have up to 6 KB. */
const mostBytes = 64 * 1024;

/**
 * Asks an authority for the time of a hash, once.
 * @param sha256 32 bytes
 * @throws StampError if it cannot be had, or does not count
 */
export async function requestStamp({ name, url, root }: StampAuthority, sha256: Buffer): Promise<StampedAnswer> {
  const { bytes, nonce } = stampRequest(sha256);
  try {
    const roots = [new X509Certificate(Buffer.from(root, 'base64'))];
    const response = await post(url, bytes);
    return { response, ...checkStamp(response, { sha256, nonce, roots }) };
  } catch (error) {
    throw new StampError(`Asking ${name} (${url}) for a time stamp failed: ${reasonOf(error)}`, { cause: error });
  }
}

async function post(url: string, body: Buffer): Promise<Buffer> {
  const headers = { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' };
  const signal = AbortSignal.timeout(patienceMs);
  const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal });
  if (answer.status !== 200 || answer.body === null)
    throw new StampError(`it answered with the status ${answer.status}`);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body) {
    length += chunk.length;
    if (length > mostBytes) throw new StampError(`its answer is longer than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** `fetch` throws a TypeError whose cause is the reason. */
function reasonOf(error: unknown): string {
  const reason = error instanceof TypeError ? (error.cause ?? error) : error;
  return reason instanceof Error ? reason.message : String(reason);
}

/** Everything has a fixed length, so that only these bytes lie around the hash and the nonce. */
const start = Buffer.from('3043020101' + '3031300d06096086480165030402010500' + '0420', 'hex');
const beforeNonce = Buffer.from('0208', 'hex');
const certReq = Buffer.from('0101ff', 'hex');

/**
 * A question to an authority: a TimeStampReq (RFC 3161, 2.4.1), which asks for its certificates too.
 * @param sha256 32 bytes that are to be stamped
 * @returns its bytes, and what the answer has to repeat
 */
export function stampRequest(sha256: Buffer) {
  const nonce = randomBytes(8);
  // A positive INTEGER of just eight bytes.
  nonce.writeUInt8((nonce.readUInt8(0) & 0x3f) | 0x40);
  return { bytes: Buffer.concat([start, sha256, beforeNonce, nonce, certReq]), nonce };
}
