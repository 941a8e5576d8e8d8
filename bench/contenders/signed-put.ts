import { createHash, createHmac } from 'node:crypto';

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const credentials = { id: process.env.AWS_ACCESS_KEY_ID ?? '', secret: process.env.AWS_SECRET_ACCESS_KEY ?? '' };
const region = process.env.AWS_REGION ?? '';
const keys = new Map<string, Buffer>();

/** The head of a PUT with AWS's Signature Version 4. Only the headers are signed: TLS protects the payload. */
export function signedPut(host: string, path: string, headers: Readonly<Record<string, string>>, at: Date): string {
  const stamp = at.toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${stamp.slice(0, 8)}/${region}/s3/aws4_request`;
  const all: Record<string, string> = {
    ...headers,
    host,
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    'x-amz-date': stamp,
  };
  const names = Object.keys(all).sort();
  const canonical = `PUT\n${path}\n\n${names.map((name) => `${name}:${all[name]}\n`).join('')}\n${names.join(';')}\nUNSIGNED-PAYLOAD`;
  const signature = hmac(signingKey(scope), `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${sha256(canonical)}`).toString(
    'hex',
  );
  const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return `PUT ${path} HTTP/1.1\r\n${names.map((name) => `${name}: ${all[name]}\r\n`).join('')}authorization: ${authorization}\r\n\r\n`;
}

function signingKey(scope: string): Buffer {
  const known = keys.get(scope);
  if (known !== undefined) return known;
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${credentials.secret}`) as Buffer;
  keys.set(scope, key);
  return key;
}
