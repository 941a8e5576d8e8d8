import { falseAlarmsOf } from './verify-history';

/** An audited history takes several times as long as another: HISTORIES=1000 plays more than CI has time for. */
const histories = Number(process.env.HISTORIES ?? 250);

describe(`${histories} legal histories with audits, which are killed at every step`, () => {
  it('raise no false alarm', async () => {
    for (let at = 0; at < histories; at += 1) expect(await falseAlarmsOf(`sealed/${at}`, true)).toEqual([]);
  }, 3_600_000);
});
