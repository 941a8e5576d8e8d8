import { falseAlarmsOf } from './verify-history';

describe('1,000 legal histories', () => {
  it('raise no false alarm', async () => {
    for (let at = 0; at < 1000; at += 1) expect(await falseAlarmsOf(`soak/${at}`)).toEqual([]);
  }, 900_000);
});
