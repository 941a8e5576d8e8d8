import { isRetried, maxRequests, retryDelayMs } from '../../../lambda/dispatch/retry';

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
    expect(bounds).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
    expect(retryDelayMs(maxRequests, undefined, () => 0)).toBe(0);
  });

  it('is what Retry-After asks for, where it does', () => {
    expect(retryDelayMs(1, 7000, () => 0)).toBe(7000);
    expect(retryDelayMs(1, 0, () => 1)).toBe(0);
  });
});
