import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { runRecordKey } from '../../../lambda/archive/archive-layout';
import type { ArchiveObject } from '../../../lambda/archive/archive-object';
import { type Outcome, RunRecordError } from '../../../lambda/run/run-record';
import { RunRecords } from '../../../lambda/run/run-records';
import { emptyRunRecord } from '../../support/empty-run-record';
import { recordText } from '../../support/record-text';

const run = new Date('2026-11-20T10:00:00.000Z');
const never = new AbortController().signal;

const record = emptyRunRecord(run);

/** Some 400 bytes each. */
function outcomes(count: number): Outcome[] {
  return Array.from({ length: count }, (_, index) => ({
    cluster: `größe-${index}`,
    resource: 'log',
    outcome: 'failed',
    error: `GET failed: ${'ü'.repeat(150)}`,
  }));
}

function memoryStore(texts: Record<string, string> = {}) {
  const objects = new Map(Object.entries(texts));
  return {
    objects,
    bucket: 'archive',
    put: async ({ key, content }: ArchiveObject) => {
      if (objects.has(key)) return 'already-archived' as const;
      objects.set(key, Buffer.isBuffer(content) ? content.toString() : await text(content.open()));
      return 'archived' as const;
    },
    open: async (key: string) => {
      const stored = objects.get(key);
      if (stored === undefined) return undefined;
      const bytes = Buffer.from(stored);
      return { length: bytes.length, body: Readable.from(bytes.length === 0 ? [] : [bytes]) };
    },
    keys: async (prefix: string) => [...objects.keys()].filter((key) => key.startsWith(prefix)).sort(),
  };
}

describe('run records', () => {
  it('are JSON Lines, the run and then each outcome, and read back as they were written', async () => {
    const store = memoryStore();
    const records = new RunRecords(store);
    const written = { ...record, outcomes: outcomes(3) };
    const name = await records.write(written);
    const lines = store.objects.get(runRecordKey(name))?.split('\n') ?? [];
    expect(lines.map((line) => line && JSON.parse(line))).toEqual([{ ...record, outcomes: 3 }, ...outcomes(3), '']);
    const read = await records.read(name, never);
    expect({ ...read, outcomes: [...read.outcomes] }).toEqual(written);
    expect(records.address(name)).toBe('s3://archive/runs/date=2026-11-20/20261120T100000.000Z.attempt-1.jsonl');
  });

  it('take the next free number beside another invocation of the same run, inside and outside', async () => {
    const store = memoryStore();
    const records = new RunRecords(store);
    const names = [
      await records.write(record),
      await records.write({ ...record, invocation: 'j' }),
      await records.write({ ...record, invocation: 'k' }),
    ];
    expect(names.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect((await records.read({ run, attempt: 3 }, never)).attempt).toBe(3);
  });

  it('are written once although the answer to the writing was lost and it was repeated', async () => {
    const store = memoryStore();
    const put = async (object: ArchiveObject) => {
      await store.put(object);
      return store.put(object);
    };
    const name = await new RunRecords({ ...store, put }).write(record);
    expect(name.attempt).toBe(1);
    expect([...store.objects.keys()]).toEqual([runRecordKey(name)]);
  });

  it.each([
    ['a long one', 4000],
    ['a short one', 1],
  ])('(%s) stay their own only if what lies there is the same to the last byte', async (_what, count) => {
    const store = memoryStore();
    const put = async (object: ArchiveObject) => {
      await store.put(object);
      return store.put(object);
    };
    const ours = { ...record, outcomes: outcomes(count) };
    const records = new RunRecords({ ...store, put });
    const key = runRecordKey({ run, attempt: 1 });
    expect((await records.write(ours)).attempt).toBe(1);
    for (const other of [`${store.objects.get(key)} `, store.objects.get(key)?.slice(0, -1), '', 'x']) {
      store.objects.clear();
      store.objects.set(key, other ?? '');
      expect((await records.write(ours)).attempt).toBe(2);
    }
  });

  it.each([
    ['twice', 2, 1],
    ['for good', 100, 3],
  ])('are a few at most although answers are lost and reading back fails %s', async (_, faults, most) => {
    const store = memoryStore();
    let left = faults;
    const losing = {
      ...store,
      put: async (object: ArchiveObject) => {
        await store.put(object);
        return 'already-archived' as const;
      },
      open: async (key: string) => {
        left -= 1;
        if (left >= 0) throw new Error('the connection was cut');
        return store.open(key);
      },
    };
    const writing = new RunRecords(losing).write(record);
    if (most === 1) expect((await writing).attempt).toBe(1);
    else await expect(writing).rejects.toThrow('under numbers before it, and cannot be read');
    expect(store.objects.size).toBe(most);
  });

  it('that are long are never in memory whole, and the same each time they are sent', async () => {
    const sent: ArchiveObject[] = [];
    const put = async (object: ArchiveObject) => {
      sent.push(object);
      return 'archived' as const;
    };
    const long = { ...record, shard: undefined, outcomes: outcomes(4000) };
    await new RunRecords({ ...memoryStore(), put }).write(long);
    const content = sent[0]?.content;
    if (content === undefined || Buffer.isBuffer(content)) throw new Error('the record is in memory');
    const expected = recordText(long);
    expect(sent[0]?.contentType).toBe('application/x-ndjson');
    expect(await text(content.open())).toBe(expected);
    expect(await text(content.open())).toBe(expected);
    expect(content).toMatchObject({ length: Buffer.byteLength(expected), crc32: crc32(expected) });
    for await (const piece of content.open()) expect(piece.length).toBeLessThan(200_000);
  });

  it('that cannot be written in time say so', async () => {
    const put = (_object: ArchiveObject, signal: AbortSignal) =>
      new Promise<'archived'>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const writing = new RunRecords({ ...memoryStore(), put }, 1).write(record);
    await expect(writing).rejects.toThrow(RunRecordError);
    await expect(writing).rejects.toThrow(/^Writing the run record s3:.*attempt-1.jsonl failed: it took too long$/);
  });

  it('are written although somebody has put an object with a far higher attempt number beside them', async () => {
    const store = memoryStore({ [runRecordKey({ run, attempt: 5000 })]: '' });
    expect((await new RunRecords(store).write({ ...record, attempt: 5001 })).attempt).toBe(5001);
  });

  it('are listed by attempt, not by the alphabet, and nothing else is taken for one', async () => {
    const keys = [10, 2, 1].map((attempt) => runRecordKey({ run, attempt }));
    const store = memoryStore(Object.fromEntries([...keys, `${keys[0]}.tmp`].map((key) => [key, ''])));
    const listed = await new RunRecords(store).list(run, never);
    expect(listed.map(({ attempt }) => attempt)).toEqual([1, 2, 10]);
  });

  it.each([
    ['is absent', undefined, 'there is none'],
    ['is not JSON', '{"version":1\n', 'it is not JSON'],
    ['is something else', '[]', 'it is not a valid run record'],
    [
      'has a wrong member',
      recordText({ ...record, configuration: 'x' }),
      'it is not a valid run record: line 1: configuration: expected 64',
    ],
    [
      'is of another attempt',
      recordText({ ...record, attempt: 2 }),
      'its content names another run, shard or attempt than its key',
    ],
    [
      'is of another run',
      recordText({ ...record, run: '2026-11-20T11:00:00.000Z' }),
      'its content names another run, shard or attempt than its key',
    ],
  ])('one that %s is not believed', async (_what, text, reason) => {
    const store = memoryStore(text === undefined ? {} : { [runRecordKey({ run, attempt: 1 })]: text });
    const reading = new RunRecords(store).read({ run, attempt: 1 }, never);
    await expect(reading).rejects.toThrow(RunRecordError);
    await expect(reading).rejects.toThrow(reason);
  });
});
