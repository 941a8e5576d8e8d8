import { createHash, createHmac } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';

/** One kept-alive TLS connection with just enough HTTP/1.1 for the servers of the benchmark. */
export class RawConnection {
  readonly #socket: TLSSocket;
  #onData: (chunk: Buffer) => void = () => undefined;
  #onError: (error: Error) => void = () => undefined;

  constructor(url: URL, ca: string) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), ca });
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#socket.on('error', (error) => this.#onError(error));
  }

  /**
   * Sends one request. Passes on each part of the body as it arrives, and whether it is in gzip. Resolves with the status
   * after the last part.
   */
  request(parts: readonly (string | Buffer)[], onBody: (part: Buffer, isGzip: boolean) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      let status = 0;
      let missing = 0;
      let isGzip = false;
      let head: Buffer | undefined = Buffer.alloc(0);
      this.#onError = reject;
      this.#onData = (chunk) => {
        let body = chunk;
        if (head !== undefined) {
          head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
          const end = head.indexOf('\r\n\r\n');
          if (end < 0) return;
          const text = head.toString('latin1', 0, end);
          status = Number(text.slice(9, 12));
          missing = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
          isGzip = /\r\ncontent-encoding: gzip/i.test(text);
          body = head.subarray(end + 4);
          head = undefined;
        }
        missing -= body.length;
        try {
          if (body.length > 0) onBody(body, isGzip);
        } catch (error) {
          reject(error);
        }
        if (missing <= 0) resolve(status);
      };
      this.#socket.cork();
      for (const part of parts) this.#socket.write(part);
      this.#socket.uncork();
    });
  }
}

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
