import { Readable } from 'node:stream';
import { stoppableReader } from '../../../lambda/audit/stoppable-reader';
import { readRunRecord } from '../../../lambda/verify/read-run';
import { MemoryBucket } from '../verify/history/memory-bucket';

const record = { key: 'runs/x', run: new Date('2026-11-20T12:00:00Z'), attempt: 1 };

/** A bucket whose objects have a body of their own. */
class OddBucket extends MemoryBucket {
  opened = 0;
  readonly #body: () => Readable;

  constructor(body: () => Readable) {
    super();
    this.#body = body;
  }

  override async open() {
    this.opened += 1;
    return { storedBytes: 1, metadata: {}, contentEncoding: 'gzip', body: this.#body() };
  }
}

const never = () => new Readable({ read: () => undefined });

describe('an object that does not come', () => {
  it('cannot be read, and ends by itself', async () => {
    const bucket = new OddBucket(never);
    const reader = stoppableReader(bucket, new AbortController().signal, 1);
    const problem = { kind: 'unreadable', problem: expect.stringContaining('it did not come within 1 s') };
    const { bad, file } = await readRunRecord(reader, record);
    expect([bad, file]).toEqual([{ key: record.key, ...problem }, undefined]);
    expect(bucket.opened).toBe(3);
  });

  it('ends when the time is over, with its reason', async () => {
    const stop = new AbortController();
    const reading = readRunRecord(stoppableReader(new OddBucket(never), stop.signal), record);
    stop.abort(new Error('the time is over'));
    await expect(reading).rejects.toThrow('the time is over');
  });
});

describe('an object that never ends', () => {
  it('is damaged as soon as it is longer than it was said to be', async () => {
    const reader = stoppableReader(
      new OddBucket(
        () =>
          new Readable({
            read() {
              this.push('[],');
            },
          }),
      ),
      new AbortController().signal,
    );
    expect(await readRunRecord(reader, record)).toEqual({
      bad: { key: record.key, kind: 'damaged', problem: 'it is longer than it was said to be' },
    });
  });
});
