import { damages } from './damages';
import { falseAlarmsOf, findDamage, undamaged } from './verify-history';

describe('200 legal histories', () => {
  it('raise no false alarm', async () => {
    for (let at = 0; at < 200; at += 1) expect(await falseAlarmsOf(`soak/${at}`)).toEqual([]);
  }, 3_600_000);

  it('end with a finding once they are damaged, each in one way', async () => {
    const ways = Object.entries(damages);
    for (let at = 0, done = 0; done < 200; at += 1) {
      const [name, damage] = ways[at % ways.length] ?? ['', () => undefined];
      const result = await findDamage(await undamaged(`damage/${at}`), `damage/${at}`, damage);
      if (result === undefined) continue;
      expect([name, at, result]).toEqual([
        name,
        at,
        { ...result, found: expect.arrayContaining([expect.any(String)]) },
      ]);
      done += 1;
    }
  }, 3_600_000);
});
