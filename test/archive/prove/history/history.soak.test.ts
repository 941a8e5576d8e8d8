import { falseAlarmsOf } from './verify-history';

describe.each([
  ['100 legal histories', 'soak', 100, false],
  ['75 legal histories with audits, which are killed at every step,', 'sealed', 75, true],
])('%s', (_, seed, count, isAudited) => {
  it('raise no false alarm', async () => {
    for (let at = 0; at < count; at += 1) expect(await falseAlarmsOf(`${seed}/${at}`, isAudited)).toEqual([]);
  }, 3_600_000);
});
