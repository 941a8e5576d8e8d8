import { unfinishedWork } from '../../bench/run-contender';

const complete = { objects: 4, storedBytes: 100, conditional: 4, checksummed: 4, wrong: 0 };

describe('the work of a contender', () => {
  it('counts if every object is new, stored under a condition, and has a right checksum', () => {
    expect(unfinishedWork(complete, 4)).toBeUndefined();
  });

  it.each([
    ['an object is missing', { objects: 3, conditional: 3, checksummed: 3 }],
    ['an object is stored without the condition', { conditional: 3 }],
    ['an object is stored without a checksum', { checksummed: 3 }],
    ['an object has a wrong checksum', { wrong: 1 }],
  ])('does not count if %s', (_what, counts) => {
    expect(unfinishedWork({ ...complete, ...counts }, 4)).toMatch(/^stored \d of 4 objects/);
  });
});
