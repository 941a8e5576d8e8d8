import { deepRecord, hugeLogRecord, invalidUtf8Record, logRecord, wrongRecords } from './fault-service-bodies';

const uid = 'uid "log":"#';

it.each([1_000, 300_000, 1_000_001])('a huge record of %i bytes is a record of exactly that size', (bytes) => {
  const whole = Buffer.concat([...hugeLogRecord({ uid, bytes })]);
  expect(whole.length).toBe(bytes);
  expect(JSON.parse(whole.toString())).toMatchObject({ spec: { clusterUid: uid, log: expect.any(String) } });
});

it('a record carries what it is given', () => {
  expect(JSON.parse(logRecord({ uid, log: 'a\r\n', state: 'S' }))).toMatchObject({
    spec: { clusterUid: uid, log: 'a\r\n' },
    status: { state: 'S' },
  });
});

it('a record with invalid UTF-8 is invalid for no other reason', () => {
  const bytes = invalidUtf8Record(uid);
  expect(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toThrow('not valid');
  expect(JSON.parse(bytes.toString())).toMatchObject({ spec: { clusterUid: uid } });
});

it('a deep record is proper JSON of the right cluster', () => {
  expect(JSON.parse(deepRecord(uid, 2000))).toMatchObject({ spec: { clusterUid: uid } });
});

it('no wrong record is a good one by accident', () => {
  const good = logRecord({ uid });
  const wrong = Object.values(wrongRecords(uid)).map(String);
  expect(new Set(wrong).size).toBe(wrong.length);
  expect(wrong).not.toContain(good);
});
