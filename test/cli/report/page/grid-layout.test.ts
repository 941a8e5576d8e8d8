import { inView, labelRuns, layOut } from '../../../../cli/report/page/grid-layout';

describe('the layout of the grid', () => {
  it.each([1, 3, 5, 40])('%i runs fill the width', (runs) => {
    const { labelWidth, cellWidth } = layOut(1200, runs, 270);
    expect(labelWidth + runs * cellWidth).toBe(1200);
  });

  it('many runs keep cells that can be hit, and scroll', () => {
    expect(layOut(1200, 1000, 270).cellWidth).toBe(14);
  });

  it('names stand beside the cells while they are whole there, and above them where they would not be', () => {
    expect(layOut(1200, 10, 270).labelWidth).toBeGreaterThan(270);
    expect(layOut(350, 10, 60).labelWidth).toBeGreaterThan(60);
    expect(layOut(350, 10, 270)).toMatchObject({ labelWidth: 0, cellWidth: 35 });
    const [oneLine, manyLines] = [layOut(350, 10, 270), layOut(350, 10, 1500)];
    expect(manyLines.rowHeight).toBeGreaterThan(oneLine.rowHeight);
  });

  it('draws what is in view and a little around it', () => {
    const shown = inView(2600, 600, 26, 1000);
    expect([shown[0], shown.at(-1)]).toEqual([96, 127]);
    expect(inView(0, 600, 26, 5)).toEqual([0, 1, 2, 3, 4]);
  });
});

const labelsOf = (...times: string[]) => labelRuns(times).map(({ group, own }) => `${group} ${own}`);

describe('the labels of runs', () => {
  it.each([
    ['times of day under their dates', ['2026-11-20 22:00', '2026-11-20 23:00', '2026-11-21 00:00']],
    [
      'exact where neighbours would look the same',
      ['2026-11-20 09:00', '2026-11-20 10:15:11', '2026-11-20 10:15:43.120', '2026-11-20 10:15:43.125'],
    ],
    ['a time of day where there is one run', ['2026-11-20 10:00']],
  ])('are %s', (_, labels) => {
    const times = labels.map((label) => new Date(`${label.replace(' ', 'T')}Z`).toISOString());
    expect(labelsOf(...times)).toEqual(labels);
  });

  it('are dates where each run has a day of its own: the same hour every day would tell nothing', () => {
    expect(labelsOf('2026-12-31T02:00:00.000Z', '2027-01-01T02:00:00.000Z')).toEqual(['2026 12-31', '2027 01-01']);
  });

  it('of any runs differ from one run to the next', () => {
    const begin = Date.UTC(2026, 10, 20);
    for (const step of [1, 999, 1000, 59_999, 60_000, 3_600_000, 86_400_000]) {
      const times = Array.from({ length: 50 }, (_, at) => new Date(begin + at * step).toISOString());
      expect(new Set(labelsOf(...times)).size).toBe(50);
    }
  });
});
