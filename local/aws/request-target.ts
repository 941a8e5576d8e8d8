/** What a request line asks for. */
export interface RequestTarget {
  /** Decoded, without the leading slash: `bucket/key`. */
  readonly path: string;
  /** As it is signed: every segment decoded and encoded again as RFC 3986 does. */
  readonly canonicalPath: string;
  /** Decoded; a parameter without a value has an empty one. */
  readonly query: Readonly<Record<string, string>>;
}

/** The request line is no valid URI. */
export class InvalidTargetError extends Error {
  override readonly name = 'InvalidTargetError';
}

/**
 * Taken apart by hand: a URL parser would resolve `..` and `%2e%2e`, and with them change the key.
 * @throws InvalidTargetError
 */
export function parseTarget(url: string): RequestTarget {
  const [path = '', ...rest] = url.split('?');
  if (!path.startsWith('/')) throw new InvalidTargetError(`Reading the request line failed: no path in ${url}`);
  // Without a prototype, so that a parameter named like a member of every object is only a parameter.
  const query: Record<string, string> = Object.create(null);
  for (const pair of rest.join('?').split('&')) {
    if (pair === '') continue;
    const [name = '', ...value] = pair.split('=');
    query[decode(name)] = decode(value.join('='));
  }
  const segments = path.slice(1).split('/').map(decode);
  return { path: segments.join('/'), canonicalPath: `/${segments.map(escapeUri).join('/')}`, query };
}

/** Percent-encodes everything but the unreserved characters of RFC 3986; the slash is kept. */
export function escapeKey(key: string): string {
  return key.split('/').map(escapeUri).join('/');
}

function escapeUri(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new InvalidTargetError(`Reading the request line failed: ${text} is not percent-encoded UTF-8`, {
      cause: error,
    });
  }
}
