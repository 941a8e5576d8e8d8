import { ratioOf, report, resultOf } from '../../bench/report';
import type { RunResult } from '../../bench/run-contender';

/** The report of two rows, the second with a goal. */
function reportOf(ours: RunResult, theirs: RunResult, goals: { wallMs?: number } = {}): string {
  const rows = [
    { name: 'ours', runs: [ours] },
    { name: 'theirs', runs: [theirs], goals },
  ];
  return report(resultOf({ name: 'any', title: 'any' }, rows));
}

describe('comparing two rows', () => {
  it('divides within each round, so that a slow round counts for both rows', () => {
    const ours = [{ wallMs: 10 }, { wallMs: 100 }, { wallMs: 12 }];
    const theirs = [{ wallMs: 20 }, { wallMs: 200 }, { wallMs: 20 }];
    expect(ratioOf('wallMs', ours, theirs)).toBe(0.5);
  });

  it('has no ratio where one row has no figure, and uses the rounds in which both have one', () => {
    const failed = { failed: 'no memory' };
    expect(ratioOf('wallMs', [{ wallMs: 1 }], [failed])).toBeUndefined();
    expect(ratioOf('wallMs', [{ wallMs: 1 }, { wallMs: 3 }], [failed, { wallMs: 4 }])).toBe(0.75);
  });

  it('says whether a goal is reached, and nothing where there is none', () => {
    expect(reportOf({ wallMs: 3 }, { wallMs: 2 }, { wallMs: 1.6 })).toContain('1.500 <= 1.6: reached');
    expect(reportOf({ wallMs: 3 }, { wallMs: 2 }, { wallMs: 1.4 })).toContain('1.500 <= 1.4: MISSED');
    expect(reportOf({ wallMs: 3 }, { wallMs: 2 })).toMatch(/ 1\.500 +\|/);
  });
});
