import { MergedOutcomes } from '../../../archive/format/merged-outcomes';
import type { Outcome, StoredRecord } from '../../../archive/format/run-record';
import { emptyRunRecord } from '../../support/record-text';

const run = new Date(Date.UTC(2026, 10, 20, 10));
const outcome = (members: Partial<Outcome>): Outcome => ({
  cluster: 'a',
  resource: 'log',
  outcome: 'archived',
  ...members,
});
const record = (attempt: number, ...outcomes: Outcome[]): StoredRecord => ({
  ...emptyRunRecord(run),
  attempt,
  outcomes,
});

const [first, second] = ['1', '2'].map((digit) => digit.repeat(64));
const archived = outcome({ key: 'k', sha256: first, bytes: 10, storedBytes: 5 });
const failed = outcome({ outcome: 'failed', error: '503' });

describe('the outcomes of a run', () => {
  it.each<[string, Outcome[], Partial<Outcome> & { attempt: number }]>([
    ['the attempt that archived counts, whatever follows', [archived, failed], { outcome: 'archived', attempt: 1 }],
    ['what failed first and was archived then is archived', [failed, archived], { outcome: 'archived', attempt: 2 }],
    [
      'of two that archived the earlier counts',
      [archived, { ...archived, sha256: second }],
      { sha256: first, attempt: 1 },
    ],
    ['of two that failed the later counts', [failed, { ...failed, error: '429' }], { error: '429', attempt: 2 }],
    [
      'a failure says more than no attempt',
      [failed, outcome({ outcome: 'not-attempted' })],
      { error: '503', attempt: 1 },
    ],
  ])('%s', (_, outcomes, expected) => {
    const merged = new MergedOutcomes();
    for (const [at, one] of outcomes.entries()) merged.add(record(at + 1, one));
    expect([...merged]).toEqual([expect.objectContaining(expected)]);
  });

  it('are counted once each, as what they are in the end', () => {
    const other = outcome({ cluster: 'b', outcome: 'not-attempted', optional: true });
    const merged = new MergedOutcomes();
    merged.add(record(1, failed, other));
    merged.add(record(2, archived, { ...other, optional: undefined }));
    expect(merged).toMatchObject({
      counts: { archived: 1, failed: 0, notAttempted: 1, optionalMissing: 0, doubts: 0 },
      bytes: 10,
      storedBytes: 5,
    });
  });
});
