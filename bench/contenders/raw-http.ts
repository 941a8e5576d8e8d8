import { createHash, createHmac } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';

/** One kept-alive TLS connection with just enough HTTP/1.1 for the servers of the benchmark. */
export class RawConnection {
  readonly #socket: TLSSocket;
  readonly #received: AsyncIterator<Buffer, undefined>;

  constructor(url: URL, ca: string) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), ca });
    this.#socket.setNoDelay(true);
    this.#received = this.#socket[Symbol.asyncIterator]();
  }

  /** Sends one request, and resolves when its answer has come whole. */
  async request(parts: readonly (string | Buffer)[]) {
    this.#socket.cork();
    for (const part of parts) this.#socket.write(part);
    this.#socket.uncork();
    let received = await this.#next();
    while (!received.includes(headEnd)) received = Buffer.concat([received, await this.#next()]);
    const bodyStart = received.indexOf(headEnd) + headEnd.length;
    const head = received.toString('latin1', 0, bodyStart);
    const body = [received.subarray(bodyStart)];
    let missing = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0) + bodyStart - received.length;
    while (missing > 0) {
      const part = await this.#next();
      body.push(part);
      missing -= part.length;
    }
    const isGzip = /\r\ncontent-encoding: gzip/i.test(head);
    return { status: Number(head.slice(9, 12)), isGzip, body: Buffer.concat(body) };
  }

  async #next(): Promise<Buffer> {
    const { value } = await this.#received.next();
    if (value === undefined) throw new Error('the connection has ended');
    return value;
  }
}

const headEnd = '\r\n\r\n';

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const credentials = { id: process.env.AWS_ACCESS_KEY_ID ?? '', secret: process.env.AWS_SECRET_ACCESS_KEY ?? '' };
const region = process.env.AWS_REGION ?? '';
const keys = new Map<string, Buffer>();

/** The head of a request with AWS's Signature Version 4. Only the headers are signed: TLS protects the payload. */
export function signedHead(
  method: 'GET' | 'PUT',
  host: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  at: Date,
  query = '',
): string {
  const stamp = at.toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${stamp.slice(0, 8)}/${region}/s3/aws4_request`;
  const all: Record<string, string> = {
    ...headers,
    host,
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    'x-amz-date': stamp,
  };
  const names = Object.keys(all).sort();
  const canonical = `${method}\n${path}\n${query}\n${names.map((name) => `${name}:${all[name]}\n`).join('')}\n${names.join(';')}\nUNSIGNED-PAYLOAD`;
  const toSign = `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${sha256(canonical)}`;
  const signature = hmac(signingKey(scope), toSign).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return `${method} ${path}${query && `?${query}`} HTTP/1.1\r\n${names.map((name) => `${name}: ${all[name]}\r\n`).join('')}authorization: ${authorization}\r\n\r\n`;
}

function signingKey(scope: string): Buffer {
  const known = keys.get(scope);
  if (known !== undefined) return known;
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${credentials.secret}`) as Buffer;
  keys.set(scope, key);
  return key;
}
