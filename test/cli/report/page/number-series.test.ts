import fc from 'fast-check';
import { NumberSeriesWriter, readNumberSeries } from '../../../../cli/report/page/number-series';

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
