import { falseAlarmsOf } from './verify-history';

describe('a legal history', () => {
  it.each(Array.from({ length: 40 }, (_, at) => `history/${at}`))('raises no false alarm: %s', async (seed) => {
    expect(await falseAlarmsOf(seed)).toEqual([]);
  });
});
