import { applyPatch } from 'diff';
import fc from 'fast-check';
import { type Hunk, unifiedHunks } from '../../../cli/commands/unified-hunks';

const names = { oldFileName: 'a', newFileName: 'b', oldHeader: undefined, newHeader: undefined };
const apply = (text: string, hunks: Hunk[]) => applyPatch(text, { ...names, hunks });

describe('unified hunks of texts with a long difference', () => {
  it('any long texts are turned into each other, with or without a last newline', () => {
    const part = fc.oneof(fc.constantFrom('a', 'b'), fc.nat({ max: 400 }).map(String));
    const text = fc.array(part, { maxLength: 60 }).map((parts) => parts.join('\n'));
    const noise = (salt: string) => Array.from({ length: 1000 }, (_, at) => `${salt} ${at}\n`).join('');
    fc.assert(
      fc.property(text, text, text, (head, middle, end) => {
        const before = `${head}\n${noise('old')}${middle}\n${end}`;
        const after = `${middle}\n${noise('new')}${end}\n${head}`;
        expect(apply(before, unifiedHunks(before, after))).toBe(after);
      }),
      { numRuns: 60 },
    );
  });

  it('texts with nothing in common are replaced, and context around that is kept', () => {
    const text = (salt: string) =>
      `head\n${Array.from({ length: 20_000 }, (_, at) => `${salt} ${at}\n`).join('')}end\n`;
    const hunks = unifiedHunks(text('old'), text('new'));
    expect(hunks).toHaveLength(1);
    expect(hunks[0]).toMatchObject({ oldStart: 1, oldLines: 20_002, newStart: 1, newLines: 20_002 });
    expect(apply(text('old'), hunks)).toBe(text('new'));
  });
});
