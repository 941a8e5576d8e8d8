import { runRecordKey } from '../../../archive/format/keys';
import { jsonLinesType } from '../../../archive/format/object-headers';
import { readRunRecord, type ValidRecords } from '../../../archive/read/read-run';
import { emptyRunRecord, recordText } from '../../support/record-text';
import { MemoryBucket } from '../prove/history/memory-bucket';

const run = new Date('2026-11-20T06:00:00.000Z');
const name = { run, attempt: 1, key: runRecordKey({ run, attempt: 1 }) };

describe('a run record that is read again', () => {
  it('is judged anew if it was replaced meanwhile', async () => {
    const bucket = new MemoryBucket();
    const outcomes = [{ cluster: 'a', resource: 'log', outcome: 'failed' }] as const;
    const content = Buffer.from(recordText({ ...emptyRunRecord(run), outcomes }));
    bucket.put({ key: name.key, content, contentType: jsonLinesType }, run);
    const valid: ValidRecords = new Map();
    for (let times = 0; times < 2; times += 1)
      expect([...((await readRunRecord(bucket, name, valid)).record?.outcomes ?? [])]).toEqual(outcomes);
    expect(valid.size).toBe(1);
    bucket.rewrite(name.key, { body: Buffer.from(String(content).replace('"failed"', '"gone"')) });
    expect((await readRunRecord(bucket, name, valid)).bad).toMatchObject({ kind: 'damaged', key: name.key });
    // What is bad is judged each time.
    expect((await readRunRecord(bucket, name, valid)).bad).toMatchObject({ kind: 'damaged', key: name.key });
  });

  it('is one of 2,000 that are known', async () => {
    const bucket = new MemoryBucket();
    const valid: ValidRecords = new Map();
    for (let hour = 0; hour < 2010; hour += 1) {
      const at = new Date(run.getTime() + hour * 3_600_000);
      const key = runRecordKey({ run: at, attempt: 1 });
      bucket.put({ key, content: Buffer.from(recordText(emptyRunRecord(at))), contentType: jsonLinesType }, at);
      await readRunRecord(bucket, { run: at, attempt: 1, key }, valid);
    }
    expect(valid.size).toBe(2000);
  });
});
