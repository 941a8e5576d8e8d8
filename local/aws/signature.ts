import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Credentials, RequestTarget } from './call';

export type SignatureProblem =
  | 'missing'
  | 'malformed'
  | 'wrong-scope'
  | 'unknown-key'
  | 'wrong-token'
  | 'no-date'
  | 'skewed'
  | 'unsigned-header'
  | 'mismatch';

/** The request is not signed by whom it says. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';

  readonly problem: SignatureProblem;

  constructor(problem: SignatureProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

export interface SignatureOptions<C extends Credentials> {
  readonly service: 's3' | 'secretsmanager' | 'kms' | 'sns';
  readonly region: string;
  readonly credentials: ReadonlyMap<string, C>;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Lower-case hex SHA-256 of the body, or the word that S3 signs in its place. */
  readonly payloadHash: string;
}

/** How far the two clocks may be apart, in milliseconds, as for the service. */
const greatestSkewMs = 15 * 60_000;

const authorizationForm =
  /^AWS4-HMAC-SHA256\s+Credential=([^/,\s]+)\/(\d{8})\/([^/,\s]+)\/([^/,\s]+)\/aws4_request\s*,\s*SignedHeaders=([^,\s]+)\s*,\s*Signature=([0-9a-f]{64})$/;

/**
 * Verifies the signature of the request's headers, Signature Version 4.
 * @returns the credentials that signed it
 * @throws SignatureError
 */
export async function verifySignature<C extends Credentials>(
  request: IncomingMessage,
  target: RequestTarget,
  options: SignatureOptions<C>,
): Promise<C> {
  const { headers } = request;
  if (headers.authorization === undefined) throw new SignatureError('missing', 'the request is not signed');
  const match = authorizationForm.exec(headers.authorization.trim());
  if (match === null) throw new SignatureError('malformed', 'the authorization header is malformed');
  const [, keyId = '', day = '', region = '', service = '', signedHeaders = '', signature = ''] = match;
  const stamp = headers['x-amz-date'];
  const date = typeof stamp === 'string' ? parseStamp(stamp) : undefined;
  if (date === undefined || typeof stamp !== 'string') throw new SignatureError('no-date', 'no valid x-amz-date');
  if (region !== options.region) throw new SignatureError('wrong-scope', `the region '${region}' is wrong`);
  if (service !== options.service) throw new SignatureError('wrong-scope', `the service '${service}' is wrong`);
  if (!stamp.startsWith(day)) throw new SignatureError('wrong-scope', `the date '${day}' is wrong`);
  const credentials = options.credentials.get(keyId);
  if (credentials === undefined) throw new SignatureError('unknown-key', 'the access key is not known');
  if (headers['x-amz-security-token'] !== credentials.sessionToken)
    throw new SignatureError('wrong-token', 'the session token is not the one that belongs to the access key');
  if (Math.abs(options.now - date.getTime()) > greatestSkewMs)
    throw new SignatureError('skewed', `the request was signed at ${stamp}`);

  const names = new Set(signedHeaders.split(';'));
  for (const name of ['host', ...Object.keys(headers).filter((header) => header.startsWith('x-amz-'))])
    if (!names.has(name)) throw new SignatureError('unsigned-header', name);

  const signer = new SignatureV4({
    service,
    region,
    credentials,
    sha256: NodeSha256,
    // S3 signs the path as it is sent, every other service escapes it once more.
    uriEscapePath: service !== 's3',
    applyChecksum: false,
  });
  const expected = await signer.sign(
    {
      method: request.method ?? '',
      protocol: 'http:',
      hostname: '',
      path: target.canonicalPath,
      query: target.query,
      headers: { ...pick(headers, names), 'x-amz-content-sha256': options.payloadHash },
    },
    {
      signingDate: date,
      signableHeaders: names,
      // Secrets Manager's clients need not send the hash; it is given above so that the signer does not read a body.
      unsignableHeaders: new Set(names.has('x-amz-content-sha256') ? [] : ['x-amz-content-sha256']),
    },
  );
  const wanted = /Signature=([0-9a-f]{64})$/.exec(expected.headers.authorization ?? '')?.[1] ?? '';
  if (wanted !== signature) throw new SignatureError('mismatch', 'the signature is another');
  return credentials;
}

function pick(headers: IncomingMessage['headers'], names: ReadonlySet<string>): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) picked[name] = Array.isArray(value) ? value.join(',') : value;
  }
  return picked;
}

/** `20261120T100000Z`. */
function parseStamp(stamp: string): Date | undefined {
  const iso = stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6.000Z');
  const date = new Date(iso);
  return iso !== stamp && !Number.isNaN(date.getTime()) && date.toISOString() === iso ? date : undefined;
}

/** SHA-256, or with a secret its HMAC, in the form that the SDK's signer takes. */
export class NodeSha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined
        ? createHash('sha256')
        : createHmac('sha256', typeof secret === 'string' ? secret : toBuffer(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof data === 'string' ? data : toBuffer(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }

  reset(): void {
    throw new Error('Resetting a hash failed: the signer was not expected to do it');
  }
}

function toBuffer(data: ArrayBuffer | ArrayBufferView): Buffer {
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data);
}
