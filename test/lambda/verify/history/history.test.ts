import { damages } from './damages';
import { falseAlarmsOf, findDamage, type Undamaged, undamaged } from './verify-history';

/** `history.soak.test.ts` and `audited-history.soak.test.ts` play hundreds of each. */

/** Histories that are played until one has what is to be damaged. */
const mostHistories = 100;

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

describe('damage of what a legal history left', () => {
  /** Each history is played once, for whatever damages it. */
  const played: Undamaged[] = [];

  it.each(Object.entries(damages))('is found: %s', async (name, damage) => {
    for (let at = 0; at < mostHistories; at += 1) {
      const history = played[at] ?? (await undamaged(`damage/${at}`));
      played[at] = history;
      const result = await findDamage(history, name, damage);
      // Not every history has what this one damages.
      if (result === undefined) continue;
      expect(result).toEqual({ done: expect.any(String), found: expect.arrayContaining([expect.any(String)]) });
      return;
    }
    throw new Error('no history has what this damages');
  });
});
