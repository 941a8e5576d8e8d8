import { encodeKeyPath } from '../../lambda/archive/percent-encoding';

/** What a request line asks for. */
export interface RequestTarget {
  /** Decoded, without the leading slash: `bucket/key`. */
  readonly path: string;
  /** As it is signed: every segment decoded, and encoded again in one form. */
  readonly canonicalPath: string;
  /** Decoded; a parameter without a value has an empty one. */
  readonly query: Readonly<Record<string, string>>;
}

/** The request line is no valid URI. */
export class InvalidTargetError extends Error {
  override readonly name = 'InvalidTargetError';
}

/**
 * Reads a request line by hand: a URL parser would resolve `..` and `%2e%2e`, and so change the key.
 * @throws InvalidTargetError
 */
export function parseTarget(url: string): RequestTarget {
  const [encodedPath = '', ...rest] = url.split('?');
  if (!encodedPath.startsWith('/')) throw new InvalidTargetError(`Reading the request line failed: no path in ${url}`);
  // Without a prototype: a parameter may have the name of a member that every object has.
  const query: Record<string, string> = Object.create(null);
  for (const pair of rest.join('?').split('&')) {
    if (pair === '') continue;
    const [name = '', ...value] = pair.split('=');
    query[decode(name)] = decode(value.join('='));
  }
  const path = decode(encodedPath.slice(1));
  return { path, canonicalPath: `/${encodeKeyPath(path)}`, query };
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
