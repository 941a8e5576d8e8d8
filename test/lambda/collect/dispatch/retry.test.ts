import { maxRequests, retryDelayMs } from '../../../../lambda/collect/dispatch/retry';

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
