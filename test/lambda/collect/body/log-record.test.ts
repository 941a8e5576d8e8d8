import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { BodyFacts } from '../../../../archive/format/resources';
import { InvalidBodyError } from '../../../../lambda/collect/body/body-check';
import { LogRecordCheck } from '../../../../lambda/collect/body/log-record';
import { bytewise, split, splits, stringLiteral } from '../../../support/json-documents';
import { logTextOf } from '../../../support/log-text-of';
import { rounds } from '../../../support/rounds';

const uid = 'cluster-1';

/** Of a record that has none of the members that only a log-fetcher record has. */
const bare = { doubt: 'it has none of spec.clusterUid, spec.log, status.state' };

/** The facts, or the error, of a record checked in chunks. */
function check(chunks: readonly Buffer[], clusterUid = uid): BodyFacts | InvalidBodyError {
  const bodyCheck = new LogRecordCheck(clusterUid);
  try {
    for (const chunk of chunks) expect(bodyCheck.write(chunk)).toBe(chunk);
    return bodyCheck.end();
  } catch (error) {
    if (error instanceof InvalidBodyError) return error;
    throw error;
  }
}

/** The facts, or the error, of a record; they must not depend on where it is split. */
function checked(record: string | Buffer, clusterUid = uid): BodyFacts | InvalidBodyError {
  const bytes = Buffer.from(record);
  const outcome = check([bytes], clusterUid);
  expect(check(bytewise(bytes), clusterUid)).toEqual(outcome);
  return outcome;
}

function reason(record: string | Buffer, clusterUid = uid): string {
  const outcome = checked(record, clusterUid);
  if (outcome instanceof InvalidBodyError) return outcome.message;
  throw new Error(`accepted: ${record}`);
}

describe('LogRecordCheck', () => {
  it('accepts the record of the service contract and says what it says', () => {
    const record = {
      metadata: {
        annotations: { team: 'a', nested: [1, { deep: null }] },
        creationTimestamp: '2026-11-20T10:00:00Z',
        deletionTimestamp: null,
        labels: {},
        lastModifiedTimestamp: '2026-11-20T10:05:00+01:00',
        name: 'log-fetcher',
        uid: 'record-1',
      },
      spec: { clusterUid: uid, log: 'größer\n"quoted"\t日本 😀' },
      status: { state: 'Ready' },
    };
    expect(checked(JSON.stringify(record, undefined, 2))).toEqual({
      state: 'Ready',
      recordUid: 'record-1',
      lastModified: '2026-11-20T10:05:00+01:00',
      ...logTextOf(JSON.stringify(record.spec.log).slice(1, -1)),
    });
  });

  it.each([
    'ä😀',
    'a"b\\c',
    'x'.repeat(200),
    'ein/+ %',
  ])('knows the uid %j of its own cluster, however it is written', (own) => {
    expect(checked(`{"spec":{"clusterUid":${JSON.stringify(own)}}}`, own)).toEqual({});
    const escapes = Array.from(
      { length: own.length },
      (_, i) => `\\u${own.charCodeAt(i).toString(16).padStart(4, '0')}`,
    );
    expect(checked(`{"spec":{"clusterUid":"${escapes.join('')}"}}`, own)).toEqual({});
    expect(reason(`{"spec":{"clusterUid":${JSON.stringify(`${own}!`)}}}`, own)).toContain('another cluster');
  });

  it('does not take a uid elsewhere for spec.clusterUid', () => {
    expect(
      checked('{"clusterUid":"other","status":{"clusterUid":"other"},"x":{"spec":{"clusterUid":"other"}}}'),
    ).toEqual(bare);
    expect(checked('{"spec":{},"x":{"clusterUid":"other","log":1}}')).toEqual(bare);
  });

  it('reads names written as escapes', () => {
    expect(checked('{"\\u0073\\u0074\\u0061tus":{"st\\u0061te":"\\u0052eady"}}')).toEqual({ state: 'Ready' });
    const name = Array.from('lastModifiedTimestamp', (c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('');
    expect(checked(`{"metadata":{"${name}":"now"}}`)).toEqual({ lastModified: 'now', ...bare });
  });

  it('does not take a long name that begins like one of the contract for it', () => {
    expect(checked('{"metadata":{"lastModifiedTimestampOfOld":1,"uid ":2},"spec\\u0000":1}')).toEqual(bare);
    expect(checked('{"spec":{},"__proto__":1,"constructor":2,"toString":3}')).toEqual(bare);
  });

  it('reads the name after a long one that is split inside a character', () => {
    const text = Buffer.from(`{"metadata":{"${'x'.repeat(22)}éé":1,"uid":"1"}}`);
    for (let at = 0; at <= text.length; at++) {
      expect(check([text.subarray(0, at), text.subarray(at)])).toEqual({ recordUid: '1', ...bare });
    }
  });

  it('records the beginning of a value that is too long', () => {
    const record = (state: string) => Buffer.from(`{"spec":{"log":""},"status":{"state":"${state}"}}`);
    expect(check([record('ä'.repeat(4096))])).toEqual({ state: 'ä'.repeat(4096), ...logTextOf('') });
    expect(check([record('ä'.repeat(4097))])).toEqual({ state: `${'ä'.repeat(4096)}…`, ...logTextOf('') });
    expect(check([record(`${'ä'.repeat(4095)}😀`)])).toEqual({ state: `${'ä'.repeat(4095)}…`, ...logTextOf('') });
  });

  it('records U+FFFD for a character that an escape cuts', () => {
    const doubt = 'it has bytes that are not UTF-8';
    const record = Buffer.from('{"spec":{"log":""},"status":{"state":"a\xe2\\n"}}', 'latin1');
    expect(checked(record)).toEqual({ state: 'a\ufffd\n', ...logTextOf(''), doubt });
  });

  it('counts the log as JSON.parse and Buffer.byteLength do, however it is written and split', () => {
    fc.assert(
      fc.property(stringLiteral, splits, (log, at) => {
        const record = Buffer.from(`{"spec":{"log":${log}}}`);
        expect(check(split(record, at))).toEqual(logTextOf(log.slice(1, -1)));
      }),
      rounds(2000),
    );
  });

  it('hashes a text of 64 MiB, and none that is longer', () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const record = (last: string) => [
      Buffer.from('{"spec":{"log":"'),
      ...Array(64).fill(chunk),
      Buffer.from(`${last}"}}`),
    ];
    const hash = createHash('sha256');
    for (const part of Array(64).fill(chunk)) hash.update(part);
    expect(check(record(''))).toEqual({ logLength: 64 * chunk.length, logLines: 1, logSha256: hash.digest('hex') });
    expect(check(record('x'))).toEqual({ logLength: 64 * chunk.length + 1, logLines: 1 });
  });

  it('refuses a page when 16 KB of it are there, and does not wait for the rest', () => {
    const body = new LogRecordCheck('a');
    expect(body.write(Buffer.from('<p>'))).toHaveLength(3);
    expect(() => body.write(Buffer.alloc(16 * 1024, 'x'))).toThrow('The log record is an HTML page');
  });
});
