import { falseAlarmsOf } from './verify-history';

/** `history.soak.test.ts` plays many more of each. */

describe('a legal history', () => {
  it.each(Array.from({ length: 2 }, (_, at) => `history/${at}`))('raises no false alarm: %s', async (seed) => {
    expect(await falseAlarmsOf(seed)).toEqual([]);
  });
});

describe('a legal history with audits', () => {
  it.each(Array.from({ length: 2 }, (_, at) => `audited/${at}`))('raises no false alarm: %s', async (seed) => {
    expect(await falseAlarmsOf(seed, true)).toEqual([]);
  });
});
