import { falseAlarmsOf } from './verify-history';

describe('150 legal histories with audits, which are killed at every step', () => {
  it('raise no false alarm', async () => {
    for (let at = 0; at < 150; at += 1) expect(await falseAlarmsOf(`sealed/${at}`, true)).toEqual([]);
  }, 3_600_000);
});
