import { applyPatch } from 'diff';
import { unifiedHunks } from '../../../cli/commands/unified-hunks';

describe('unified hunks of texts with nothing in common', () => {
  it('texts with nothing in common are replaced, and context around that is kept', () => {
    const text = (salt: string) =>
      `head\n${Array.from({ length: 20_000 }, (_, at) => `${salt} ${at}\n`).join('')}end\n`;
    const hunks = unifiedHunks(text('old'), text('new'));
    expect(hunks).toHaveLength(1);
    expect(hunks[0]).toMatchObject({ oldStart: 1, oldLines: 20_002, newStart: 1, newLines: 20_002 });
    const names = { oldFileName: 'a', newFileName: 'b', oldHeader: undefined, newHeader: undefined };
    expect(applyPatch(text('old'), { ...names, hunks })).toBe(text('new'));
  });
});
