/**
 * The delay a Retry-After header asks for, in milliseconds: whole seconds or an HTTP date (RFC 9110, 10.2.3). Anything
 * else is as if it were absent.
 */
export function parseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d{1,15}\s*$/.test(value)) return Number(value) * 1000;
  // Date.parse alone would take "-1" or "2" for a year.
  if (!/^\s*[A-Za-z]{3,9},? .*\d\d:\d\d:\d\d/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now.getTime());
}
