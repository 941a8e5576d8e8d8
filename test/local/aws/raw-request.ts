import { createHash } from 'node:crypto';
import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';

export interface RawCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface RawRequest {
  readonly method: string;
  /** As it stands in the request line, already encoded. */
  readonly path: string;
  /** The path to sign, if another one is sent. */
  readonly signedPath?: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer;
  /** Signed in the place of the body's hash. */
  readonly payloadHash?: string;
  readonly service?: string;
  /** Changed after signing. */
  readonly tamper?: (headers: Record<string, string>) => Record<string, string>;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Whether the server asked for the body of a request that waited to be asked. */
  readonly wasAsked: boolean;
}

/** A request that no SDK would send: signed by hand, sent byte by byte as it is given. */
export class RawClient {
  constructor(
    readonly url: string,
    readonly region: string,
    readonly credentials: RawCredentials,
  ) {}

  async sign(raw: RawRequest): Promise<Record<string, string>> {
    const { host } = new URL(this.url);
    const service = raw.service ?? 's3';
    const body = raw.body ?? Buffer.alloc(0);
    const signer = new SignatureV4({
      service,
      region: this.region,
      credentials: this.credentials,
      sha256: Sha256,
      uriEscapePath: service !== 's3',
      applyChecksum: false,
    });
    const signed = await signer.sign(
      {
        method: raw.method,
        protocol: 'http:',
        hostname: '127.0.0.1',
        path: raw.signedPath ?? raw.path,
        query: raw.query ?? {},
        headers: {
          host,
          'x-amz-content-sha256': raw.payloadHash ?? createHash('sha256').update(body).digest('hex'),
          ...raw.headers,
        },
      },
      { signingDate: new Date() },
    );
    return raw.tamper?.(signed.headers) ?? signed.headers;
  }

  async send(raw: RawRequest): Promise<RawAnswer> {
    const headers = await this.sign(raw);
    const query = Object.entries(raw.query ?? {}).map(
      ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
    );
    const path = query.length === 0 ? raw.path : `${raw.path}?${query.join('&')}`;
    const body = raw.body ?? Buffer.alloc(0);
    return new Promise((resolve, reject) => {
      let wasAsked = false;
      const sent = request(`${this.url}`, { method: raw.method, path, agent: false });
      // The content length must be the body's, whatever was signed: Node takes it from here.
      for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value);
      if (body.length > 0 && headers['content-length'] === undefined) sent.setHeader('content-length', body.length);
      sent.on('error', reject);
      sent.once('continue', () => {
        wasAsked = true;
        sent.end(body);
      });
      sent.on('response', (response) => {
        text(response).then((answer) => {
          sent.destroy();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: answer, wasAsked });
        }, reject);
      });
      if (headers.expect === undefined) sent.end(body);
      else sent.flushHeaders();
    });
  }
}
