import fc from 'fast-check';
import {
  clusterPrefix,
  objectKey,
  parseObjectKey,
  parseRunRecordKey,
  runPrefix,
  runRecordKey,
  stampOf,
} from '../../../archive/format/keys';
import { anyCharacter } from '../../support/any-character';

const run = new Date('2026-11-20T10:00:00.000Z');

/** Any uid that a configuration accepts: 1 to 200 bytes of UTF-8 without lone surrogates, and neither dot segment. */
const uids = fc
  .oneof(fc.string({ unit: anyCharacter, minLength: 1 }), fc.string({ unit: 'grapheme', minLength: 1 }))
  .filter((uid) => uid.isWellFormed() && Buffer.byteLength(uid) <= 200 && uid !== '.' && uid !== '..');

const times = fc.date({
  min: new Date('0001-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});

describe('object keys', () => {
  it('name the resource, the cluster, the date and the run', () => {
    expect(objectKey({ resource: 'log', cluster: 'c-1', run })).toBe(
      'logs/cluster=c-1/date=2026-11-20/20261120T100000.000Z.json.gz',
    );
    expect(objectKey({ resource: 'manifest', cluster: 'c-1', run })).toBe(
      'manifests/cluster=c-1/date=2026-11-20/20261120T100000.000Z.txt.gz',
    );
  });

  it('are one to one with names, never leave their prefix and fit S3, for any uid a configuration accepts', () => {
    fc.assert(
      fc.property(uids, times, fc.constantFrom('log' as const, 'manifest' as const), (cluster, time, resource) => {
        const name = { resource, cluster, run: time };
        const key = objectKey(name);
        expect(parseObjectKey(key)).toEqual(name);
        expect(key).toMatch(/^(logs|manifests)\/cluster=[A-Za-z0-9._%-]+\/date=[\d-]{10}\/[\dT.]+Z\.(json|txt)\.gz$/);
        expect(key.startsWith(clusterPrefix(resource, cluster))).toBe(true);
        expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1024);
      }),
    );
  });

  it('sort as their runs do', () => {
    fc.assert(
      fc.property(times, times, (a, b) => {
        expect(stampOf(a) < stampOf(b)).toBe(a.getTime() < b.getTime());
      }),
    );
  });

  it.each([
    'logs/cluster=a/date=2026-11-20/20261120T100000.000Z.txt.gz',
    'logs/cluster=a/date=2026-11-21/20261120T100000.000Z.json.gz',
    'logs/cluster=a/date=2026-02-30/20260230T100000.000Z.json.gz',
    'logs/cluster=%61/date=2026-11-20/20261120T100000.000Z.json.gz',
    'logs/cluster=%E0/date=2026-11-20/20261120T100000.000Z.json.gz',
    'logs/cluster=a/b/date=2026-11-20/20261120T100000.000Z.json.gz',
    'other/cluster=a/date=2026-11-20/20261120T100000.000Z.json.gz',
    '',
  ])('do not include %s', (key) => {
    expect(parseObjectKey(key)).toBeUndefined();
  });

  it('are not confused by any other string', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseObjectKey(text)).toBeUndefined();
        expect(parseRunRecordKey(text)).toBeUndefined();
        const key = objectKey({ resource: 'log', cluster: text, run });
        expect([undefined, text]).toContain(parseObjectKey(key)?.cluster);
      }),
    );
  });
});

describe('run record keys', () => {
  it('name the run, the shard and the attempt', () => {
    expect(runRecordKey({ run, attempt: 1 })).toBe('runs/date=2026-11-20/20261120T100000.000Z.attempt-1.jsonl');
    expect(runRecordKey({ run, shard: { index: 0, count: 4 }, attempt: 12 })).toBe(
      'runs/date=2026-11-20/20261120T100000.000Z.shard-0-of-4.attempt-12.jsonl',
    );
    expect(runRecordKey({ run, attempt: 1 }).startsWith(runPrefix(run))).toBe(true);
  });

  it.each([{ attempt: 3 }, { attempt: 10, shard: { index: 3, count: 4 } }])('are read back: %j', (name) => {
    expect(parseRunRecordKey(runRecordKey({ run, ...name }))).toEqual({ run, shard: undefined, ...name });
  });

  it.each([
    'runs/date=2026-11-20/20261120T100000.000Z.attempt-01.jsonl',
    'runs/date=2026-11-19/20261120T100000.000Z.attempt-1.jsonl',
  ])('do not include %s', (key) => {
    expect(parseRunRecordKey(key)).toBeUndefined();
  });
});
