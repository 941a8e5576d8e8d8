/** What is wrong with the service's address, as what was expected instead; undefined if nothing is. */
export function baseUrlProblem(text: string): string | undefined {
  if (/[\s\\]/.test(text) || !URL.canParse(text)) return 'an absolute URL such as https://clusters.example.com';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    return 'https (plain http only towards loopback, because every request carries the key)';
  // The parser drops an empty query or fragment, hence the text.
  if (url.username !== '' || url.password !== '' || text.includes('@')) return 'no credentials in the address';
  if (text.includes('?') || text.includes('#')) return 'an address without query or fragment';
  return undefined;
}

/** A valid address in one spelling: origin and path prefix without a trailing slash. */
export function normaliseBaseUrl(text: string): string {
  const url = new URL(text);
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
