import { layOut, windowOf } from '../../../../cli/report/page/grid-layout';

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
    const layout = layOut(1200, 100, 270);
    const shown = windowOf({ left: 140, top: 2600, width: 1200, height: 600 }, layout, 1000, 100);
    expect(shown.firstColumn).toBeLessThan(shown.firstShown);
    expect([shown.firstShown, shown.endRow - shown.firstRow]).toEqual([10, 32]);
    expect(windowOf({ left: 0, top: 0, width: 1200, height: 600 }, layout, 5, 3)).toMatchObject({
      firstRow: 0,
      endRow: 5,
      firstColumn: 0,
      endColumn: 3,
    });
  });
});
