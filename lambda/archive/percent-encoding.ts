/**
 * Percent-encoded UTF-8; only the unreserved characters of RFC 3986 stay as they are. S3 signs paths in this form.
 * @throws URIError for a lone surrogate
 */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** An object's key as the path of a URL: its slashes stay. */
export function encodeKeyPath(key: string): string {
  return percentEncode(key).replaceAll('%2F', '/');
}
