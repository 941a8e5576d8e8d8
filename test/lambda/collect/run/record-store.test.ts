import { runRecordKey } from '../../../../archive/format/keys';
import { type Outcome, RunRecordError } from '../../../../archive/format/run-record';
import type { ArchiveObject } from '../../../../lambda/collect/put/archive-object';
import { DryArchive, type PutResult } from '../../../../lambda/collect/put/s3-archive';
import { RecordStore } from '../../../../lambda/collect/run/record-store';
import { FakeArchive } from '../../../support/fake-archive';
import { emptyRunRecord, recordText } from '../../../support/record-text';

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

/** An archive whose every answer to a put is lost: what lies there then may be what was put. */
class ForgetfulArchive extends FakeArchive {
  override async put(object: ArchiveObject): Promise<PutResult> {
    await super.put(object);
    return 'answer-lost';
  }
}

describe('run records', () => {
  it('are JSON Lines, the run and then each outcome, and read back as they were written', async () => {
    const store = new FakeArchive();
    const records = new RecordStore(store, store);
    const written = { ...record, outcomes: outcomes(3) };
    const name = { run, attempt: 1 };
    expect(await records.write(written)).toEqual(name);
    const lines = store.stored.get(runRecordKey(name))?.toString().split('\n') ?? [];
    expect(lines.map((line) => line && JSON.parse(line))).toEqual([{ ...record, outcomes: 3 }, ...outcomes(3), '']);
    const read = await records.read(name, never);
    expect({ ...read, outcomes: [...read.outcomes] }).toEqual(written);
    expect(records.address(name)).toBe('s3://archive/runs/date=2026-11-20/20261120T100000.000Z.attempt-1.jsonl');
  });

  it('take the next free number beside another invocation of the same run, inside and outside', async () => {
    const store = new FakeArchive();
    const records = new RecordStore(store, store);
    const names = [
      await records.write(record),
      await records.write({ ...record, invocation: 'j' }),
      await records.write({ ...record, invocation: 'k' }),
    ];
    expect(names.map((name) => name?.attempt)).toEqual([1, 2, 3]);
    expect((await records.read({ run, attempt: 3 }, never)).attempt).toBe(3);
  });

  it('are written once though an answer was lost, if what lies there is the same to the last byte', async () => {
    const store = new ForgetfulArchive();
    const ours = { ...record, outcomes: outcomes(1) };
    const records = new RecordStore(store, store);
    const key = runRecordKey({ run, attempt: 1 });
    expect((await records.write(ours))?.attempt).toBe(1);
    expect([...store.stored.keys()]).toEqual([key]);
    const bytes = String(store.stored.get(key));
    for (const other of [`${bytes} `, bytes.slice(0, -1), '', 'x']) {
      store.stored.clear();
      store.stored.set(key, Buffer.from(other));
      expect((await records.write(ours))?.attempt).toBe(2);
    }
  });

  it('of a dry run are not written, although the number is free', async () => {
    const store = new FakeArchive();
    expect(await new RecordStore(new DryArchive('archive'), store).write(record)).toBeUndefined();
    expect([...store.stored.keys()]).toEqual([]);
  });

  it('fail where nobody can tell whether what lies there is the record', async () => {
    const store = new ForgetfulArchive();
    store.open = async () => {
      throw new Error('the connection was cut');
    };
    await expect(new RecordStore(store, store).write(record)).rejects.toThrow('the connection was cut');
    expect([...store.stored.keys()]).toEqual([runRecordKey({ run, attempt: 1 })]);
  });

  it('that cannot be written in time say so', async () => {
    const store = new FakeArchive();
    store.put = (_object: ArchiveObject, signal?: AbortSignal) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const writing = new RecordStore(store, store, 1).write(record);
    await expect(writing).rejects.toThrow(RunRecordError);
    await expect(writing).rejects.toThrow(/^Writing the run record s3:.*attempt-1.jsonl failed: it took too long$/);
  });

  it('are listed by attempt, not by the alphabet, and nothing else is taken for one', async () => {
    const keys = [10, 2, 1].map((attempt) => runRecordKey({ run, attempt }));
    const store = new FakeArchive(Object.fromEntries([...keys, `${keys[0]}.tmp`].map((key) => [key, ''])));
    const listed = await new RecordStore(store, store).list(run, never);
    expect(listed.map(({ attempt }) => attempt)).toEqual([1, 2, 10]);
  });

  it.each([
    ['is absent', undefined, 'it does not exist'],
    [
      'has a wrong member',
      recordText({ ...record, configuration: 'x' }),
      'it is not a valid run record: line 1: configuration: expected 64',
    ],
  ])('one that %s is not believed', async (_what, text, reason) => {
    const store = new FakeArchive(text === undefined ? {} : { [runRecordKey({ run, attempt: 1 })]: text });
    const reading = new RecordStore(store, store).read({ run, attempt: 1 }, never);
    await expect(reading).rejects.toThrow(RunRecordError);
    await expect(reading).rejects.toThrow(reason);
  });
});
