import fc from 'fast-check';
import { type ObjectFacts, objectMetadata, readObjectMetadata } from '../../../archive/format/object-metadata';
import { anyCharacter } from '../../support/any-character';

const facts: ObjectFacts = {
  cluster: 'c-1',
  resource: 'log',
  run: new Date('2026-11-20T10:00:00.000Z'),
  fetchedAt: new Date('2026-11-20T10:00:01.250Z'),
  mediaType: 'application/json; charset=utf-8',
  sha256: 'ab'.repeat(32),
  length: 0,
  state: 'Ready',
  recordUid: 'r-1',
  lastModified: '2026-11-20T09:59:00Z',
  logLength: 0,
  logLines: 0,
  logSha256: 'cd'.repeat(32),
  doubt: 'spec.log has bytes that are not UTF-8',
  version: '1.0.0',
};

describe('object metadata', () => {
  it('says what the object is, readably', () => {
    expect(objectMetadata(facts)).toEqual({
      'cluster-uid': 'c-1',
      resource: 'log',
      run: '2026-11-20T10:00:00.000Z',
      'fetched-at': '2026-11-20T10:00:01.250Z',
      'media-type': 'application/json%3B%20charset%3Dutf-8',
      state: 'Ready',
      'record-uid': 'r-1',
      'record-last-modified': '2026-11-20T09:59:00Z',
      'log-length': '0',
      'log-lines': '0',
      'log-sha256': 'cd'.repeat(32),
      doubt: 'spec.log%20has%20bytes%20that%20are%20not%20UTF-8',
      sha256: 'ab'.repeat(32),
      length: '0',
      version: '1.0.0',
    });
  });

  it('is printable ASCII within the 2 KB of S3 and reads back, whatever the service says', () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 400 }),
      fc.string({ unit: 'grapheme', maxLength: 4000 }),
    );
    const uid = fc
      .string({ unit: anyCharacter })
      .filter((value) => value.isWellFormed() && Buffer.byteLength(value) <= 200);
    fc.assert(
      fc.property(uid, text, text, text, text, text, (cluster, state, recordUid, lastModified, mediaType, doubt) => {
        const hostile = { ...facts, cluster, state, recordUid, lastModified, mediaType, doubt };
        const metadata = objectMetadata(hostile);
        const entries = Object.entries(metadata);
        expect(entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)).toBeLessThan(2048);
        for (const [, value] of entries) expect(value).toMatch(/^[\x21-\x7e]*$/);
        const read = readObjectMetadata(metadata);
        expect(doubt.toWellFormed().startsWith(read?.doubt ?? 'absent')).toBe(true);
        expect(read).toMatchObject({ cluster, run: facts.run, sha256: facts.sha256, length: 0 });
        expect(state.toWellFormed().startsWith(read?.state ?? 'absent')).toBe(true);
      }),
    );
  });

  it('cuts a long value between characters', () => {
    const state = readObjectMetadata(objectMetadata({ ...facts, state: '\u{1f600}'.repeat(1000) }))?.state;
    expect(state).toBe('\u{1f600}'.repeat(25));
  });

  it.each([
    ['sha256', 'AB'.repeat(32)],
    ['length', '-1'],
    ['run', 'yesterday'],
    ['cluster-uid', '%E0%A4%A'],
    ['resource', 'other'],
  ])('is not read where %s is %s', (name, value) => {
    expect(readObjectMetadata({ ...objectMetadata(facts), [name]: value })).toBeUndefined();
  });
});
