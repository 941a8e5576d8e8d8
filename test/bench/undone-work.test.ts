import { undoneWork } from '../../bench/undone-work';

const whole = { objects: 4, bytes: 100, conditional: 4, checksummed: 4, conflicts: 0, wrong: 0 };

describe('the work of a contender', () => {
  it('counts when every object came new, under a condition and with a right checksum', () => {
    expect(undoneWork(whole, 4)).toBeUndefined();
  });

  it.each([
    ['an object is missing', { objects: 3, conditional: 3, checksummed: 3 }],
    ['one was written without the condition', { conditional: 3 }],
    ['one came without a checksum', { checksummed: 3 }],
    ['one came with a wrong checksum', { wrong: 1 }],
  ])('does not count when %s', (_what, seen) => {
    expect(undoneWork({ ...whole, ...seen }, 4)).toMatch(/^stored \d of 4 objects/);
  });
});
