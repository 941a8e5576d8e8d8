import { backoff, isRetried, maxRequests, parseRetryAfter, retryDelayMs } from '../../../lambda/service/retry';

const now = new Date('2026-11-20T10:00:00.000Z');

describe('what is retried', () => {
  it.each(['connection', 'timeout', 'cut'] as const)('a %s failure is', (failure) => {
    expect(isRetried(failure, undefined)).toBe(true);
  });

  it.each([
    'certificate',
    'too-large',
    'encoding',
  ] as const)('a %s failure is not: asking again does not help', (failure) => {
    expect(isRetried(failure, 200)).toBe(false);
  });

  it.each([408, 429, 500, 502, 503, 504, 599])('status %i is', (status) => {
    expect(isRetried('status', status)).toBe(true);
  });

  it.each([204, 301, 307, 400, 401, 403, 404, 410, 499])('status %i is not', (status) => {
    expect(isRetried('status', status)).toBe(false);
  });
});

describe('the delay', () => {
  it('has full jitter under a bound that doubles up to the longest', () => {
    const bounds = Array.from({ length: 8 }, (_, i) => retryDelayMs(i + 1, undefined, () => 1));
    expect(bounds).toEqual([500, 1000, 2000, 4000, 8000, 16_000, backoff.longestMs, backoff.longestMs]);
    expect(retryDelayMs(maxRequests, undefined, () => 0)).toBe(0);
  });

  it('is what Retry-After asks for, where it does', () => {
    expect(retryDelayMs(1, 7000, () => 0)).toBe(7000);
    expect(retryDelayMs(1, 0, () => 1)).toBe(0);
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['999999999999999', 999_999_999_999_999_000],
    ['Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
    ['Friday, 20-Nov-26 10:00:30 GMT', 30_000],
    ['Fri Nov 20 10:00:30 2026 GMT', 30_000],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
  ])('%j is %i ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });

  it.each([
    undefined,
    '',
    'soon',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    'Fri, 32 Nov 2026 99:99:99 GMT',
    '9'.repeat(16),
  ])('%j is as if it were absent', (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  });
});
