import fc from 'fast-check';
import {
  cellOutcomes,
  decodeCell,
  encodeCell,
  NumberSeriesWriter,
  readNumberSeries,
} from '../../../../cli/report/page/series-code';

describe('a cell as a letter', () => {
  it('every cell survives its letter', () => {
    const letters = new Set<string>();
    for (const outcome of cellOutcomes)
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

describe('a number series', () => {
  it('numbers come back at their places, and a place left out repeats the number before', () => {
    const places = fc.array(fc.option(fc.nat(), { nil: undefined }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(places, (numbers) => {
        const writer = new NumberSeriesWriter();
        numbers.forEach((value, at) => {
          if (value !== undefined) writer.set(at, value);
        });
        let last: number | undefined;
        const expected = numbers.map((value) => (last = value ?? last));
        expect(readNumberSeries(writer.finish(numbers.length))).toEqual(expected);
      }),
    );
  });

  it('a number that stays costs one character', () => {
    const writer = new NumberSeriesWriter();
    for (let at = 0; at < 5; at++) writer.set(at, 123_456);
    expect(writer.finish(5)).toBe('2n9c,,,,');
  });
});
