import { decodeCell, encodeCell } from '../../../../cli/report/page/cell-code';

describe('a cell as a letter', () => {
  it('every cell survives its letter', () => {
    const letters = new Set<string>();
    for (const outcome of ['none', 'archived', 'already-archived', 'failed', 'not-attempted'] as const)
      for (const isLate of [false, true])
        for (const isChanged of [false, true])
          for (const hasDoubt of [false, true]) {
            const letter = encodeCell({ outcome, isLate, isChanged, hasDoubt });
            letters.add(letter);
            expect(decodeCell(letter)).toEqual({ outcome, isLate, isChanged, hasDoubt });
          }
    expect([...letters].sort().join('')).toMatch(/^[A-h]{40}$/);
  });

  it('a cell that is not there is not covered', () => {
    expect(decodeCell(undefined)).toEqual({ outcome: 'none', isLate: false, isChanged: false, hasDoubt: false });
  });
});
