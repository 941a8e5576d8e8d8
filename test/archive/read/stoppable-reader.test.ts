import { Readable } from 'node:stream';
import { readRunRecord } from '../../../archive/read/read-run';
import { stoppableReader } from '../../../archive/read/stoppable-reader';
import { RunStopped } from '../../../lambda/stop';
import { MemoryBucket } from '../../archive/prove/history/memory-bucket';

const record = { key: 'runs/x', run: new Date('2026-11-20T12:00:00Z'), attempt: 1 };

/** Reads a run record from a bucket whose objects have a body of their own. @returns how often it was opened, too */
async function read(bodyOf: (opened: number) => Readable, signal = new AbortController().signal, mostMs?: number) {
  let opened = 0;
  const bucket = new MemoryBucket();
  bucket.open = async () => {
    opened += 1;
    return { storedBytes: 1, metadata: {}, contentEncoding: 'gzip', body: bodyOf(opened) };
  };
  return { ...(await readRunRecord(stoppableReader(bucket, signal, mostMs), record)), opened };
}

const bad = (kind: string, problem: unknown) => ({ key: record.key, kind, problem });

it('an object that does not come cannot be read, and ends by itself', async () => {
  const never = () => new Readable({ read: () => undefined });
  const problem = expect.stringContaining('it did not come within 1 s');
  expect(await read(never, undefined, 1)).toEqual({ bad: bad('unreadable', problem), opened: 3 });
});

it.each([1, 3])('an object that is read for the %ith time when the time is over ends with the reason', async (time) => {
  const stop = new AbortController();
  const body = (opened: number) =>
    new Readable({
      read() {
        if (opened < time) this.destroy(new Error('cut'));
        else stop.abort(new RunStopped('the time is over'));
      },
    });
  await expect(read(body, stop.signal)).rejects.toThrow(new RunStopped('the time is over'));
});

it('an object that was opened while the time ended is not given, and nothing is asked of it after', async () => {
  const stop = new AbortController();
  const bucket = new MemoryBucket();
  const body = new Readable({ read: () => undefined });
  bucket.open = async () => {
    stop.abort(new RunStopped('the time is over'));
    return { storedBytes: 1, metadata: {}, contentEncoding: 'gzip', body };
  };
  const reader = stoppableReader(bucket, stop.signal);
  await expect(reader.open(record.key)).rejects.toThrow(new RunStopped('the time is over'));
  expect(body.destroyed).toBe(true);
  await expect(reader.head(record.key)).rejects.toThrow(new RunStopped('the time is over'));
});

it('an object that never ends is damaged as soon as it is longer than it was said to be', async () => {
  const endless = () =>
    new Readable({
      read() {
        this.push('[],');
      },
    });
  const problem = 'it is longer than it was said to be';
  expect(await read(endless)).toEqual({ bad: bad('damaged', problem), opened: 1 });
});

it('a listing of objects does not go to its end when the time is over', async () => {
  const stop = new AbortController();
  const bucket = new MemoryBucket();
  for (let one = 0; one < 100; one += 1)
    bucket.put({ key: `logs/${one}`, content: Buffer.from(''), contentType: '' }, new Date(0));
  const listed: string[] = [];
  const list = async () => {
    for await (const { key } of stoppableReader(bucket, stop.signal).list('logs/')) {
      listed.push(key);
      stop.abort(new RunStopped('the time is over'));
    }
  };
  await expect(list()).rejects.toThrow('the time is over');
  expect(listed).toHaveLength(1);
});
