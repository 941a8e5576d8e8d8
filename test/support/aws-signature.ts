import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * The signature of a request as AWS computes it from what arrived (Signature Version 4).
 * @param request its headers have `authorization`, as far as it says which headers are signed, and `x-amz-content-sha256`
 */
export function signatureOf(
  { method, url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  secretAccessKey: string,
): string {
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(String(headers.authorization)) ?? [];
  const [path = '', query = ''] = url.split('?');
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, path, query, signed.join(''), names, headers['x-amz-content-sha256']].join('\n');
  const hash = createHash('sha256').update(canonical).digest('hex');
  const key = scope
    .split('/')
    .reduce<string | Buffer>(
      (previous, part) => createHmac('sha256', previous).update(part).digest(),
      `AWS4${secretAccessKey}`,
    );
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash].join('\n');
  return createHmac('sha256', key).update(text).digest('hex');
}
