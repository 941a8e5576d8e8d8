import { checkRandomLogs } from './random-logs';

describe('8,000 random logs', () => {
  const found = checkRandomLogs(1000, 8000);

  it('are joined to the original, with a gap exactly where nothing proves an overlap', () => {
    expect(found.wrong).toEqual([]);
  });

  it('leave little to chance: an overlap without proof, and lines that repeat', () => {
    expect(found.short / found.seams).toBeLessThan(0.001);
    expect(found.byChance / found.seams).toBeLessThan(0.03);
  });
});
