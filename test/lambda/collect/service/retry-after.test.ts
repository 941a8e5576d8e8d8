import { parseRetryAfter } from '../../../../lambda/collect/service/answer-head';

const now = new Date('2026-11-20T10:00:00.000Z');

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
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
    'Fri, 32 Nov 2026 99:99:99 GMT',
    '9'.repeat(16),
  ])('%j is as if it were absent', (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  });
});
