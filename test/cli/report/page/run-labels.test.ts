import { labelRuns } from '../../../../cli/report/page/run-labels';

const labelsOf = (...times: string[]) => labelRuns(times).map(({ group, own }) => `${group} ${own}`);

describe('the labels of runs', () => {
  it('are times of day under their dates', () => {
    expect(labelsOf('2026-11-20T22:00:00.000Z', '2026-11-20T23:00:00.000Z', '2026-11-21T00:00:00.000Z')).toEqual([
      '2026-11-20 22:00',
      '2026-11-20 23:00',
      '2026-11-21 00:00',
    ]);
  });

  it('are dates where each run has a day of its own: the same hour every day would tell nothing', () => {
    expect(labelsOf('2026-12-31T02:00:00.000Z', '2027-01-01T02:00:00.000Z')).toEqual(['2026 12-31', '2027 01-01']);
  });

  it('are exact to the second or the millisecond where neighbours would look the same', () => {
    expect(
      labelsOf(
        '2026-11-20T09:00:00.000Z',
        '2026-11-20T10:15:11.000Z',
        '2026-11-20T10:15:43.120Z',
        '2026-11-20T10:15:43.125Z',
      ),
    ).toEqual(['2026-11-20 09:00', '2026-11-20 10:15:11', '2026-11-20 10:15:43.120', '2026-11-20 10:15:43.125']);
  });

  it('of any runs differ from one run to the next', () => {
    const begin = Date.UTC(2026, 10, 20);
    for (const step of [1, 999, 1000, 59_999, 60_000, 3_600_000, 86_400_000]) {
      const times = Array.from({ length: 50 }, (_, at) => new Date(begin + at * step).toISOString());
      expect(new Set(labelsOf(...times)).size).toBe(50);
    }
  });

  it('a single run has its time of day', () => {
    expect(labelsOf('2026-11-20T10:00:00.000Z')).toEqual(['2026-11-20 10:00']);
  });
});
