import { request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface RawCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface RawRequest {
  readonly method: string;
  /** As it stands in the request line, already encoded. */
  readonly path: string;
  /** Those of the credentials; undefined: left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: Buffer;
}

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
  /** Whether the server asked for the body of a request that waited to be asked. */
  readonly wasAsked: boolean;
}

/** Sends requests that no SDK would send, byte by byte as they are given. */
export function rawClient(url: string, region: string, { accessKeyId, sessionToken }: RawCredentials) {
  const ofCaller = {
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261120/${region}/s3/aws4_request, SignedHeaders=host`,
    'x-amz-security-token': sessionToken,
  };
  return ({ method, path, headers, body = Buffer.alloc(0) }: RawRequest): Promise<RawAnswer> =>
    new Promise((resolve, reject) => {
      let wasAsked = false;
      const sent = request(url, { method, path, agent: false });
      for (const [name, value] of Object.entries({ ...ofCaller, 'content-length': `${body.length}`, ...headers }))
        if (value !== undefined) sent.setHeader(name, value);
      sent.on('error', reject);
      sent.once('continue', () => {
        wasAsked = true;
        sent.end(body);
      });
      sent.on('response', (response) => {
        text(response).then((answer) => {
          sent.destroy();
          resolve({ status: response.statusCode ?? 0, body: answer, wasAsked });
        }, reject);
      });
      if (headers?.expect === undefined) sent.end(body);
      else sent.flushHeaders();
    });
}
