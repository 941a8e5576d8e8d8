import { falseAlarmsOf } from './verify-history';

describe.each([
  ['200 legal histories', 'soak', 200, false],
  ['150 legal histories with audits, which are killed at every step,', 'sealed', 150, true],
])('%s', (_, seed, count, isAudited) => {
  it('raise no false alarm', async () => {
    for (let at = 0; at < count; at += 1) expect(await falseAlarmsOf(`${seed}/${at}`, isAudited)).toEqual([]);
  }, 3_600_000);
});
