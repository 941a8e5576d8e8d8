import { checkRandomLogs } from './random-logs';

describe('random logs, of which a service shows ever another part', () => {
  it('are joined to the original, with a gap exactly where nothing proves an overlap', () => {
    const { wrong, seams } = checkRandomLogs(0, 100);
    expect(wrong).toEqual([]);
    expect(seams).toBeGreaterThan(1000);
  });
});
