import { applyPatch } from 'diff';
import fc from 'fast-check';
import { type Hunk, unifiedHunks } from '../../../cli/commands/unified-hunks';

function apply(before: string, hunks: readonly Hunk[]): string | false {
  return applyPatch(before, {
    oldFileName: 'a',
    newFileName: 'b',
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [...hunks],
  });
}

/** Lines that repeat seldom, as those of a log. */
const lines = (from: number, to: number, salt: string) =>
  Array.from({ length: to - from }, (_, at) => `${from + at} ${salt}\n`).join('');

describe('unified hunks', () => {
  it('the hunks turn the one text into the other', () => {
    const text = fc
      .array(fc.constantFrom('a\n', 'b\n', 'c\r\n', '\n'), { maxLength: 30 })
      .map((parts) => parts.join(''));
    const ends = fc.constantFrom('', 'no newline');
    fc.assert(
      fc.property(text, ends, text, ends, (old, oldEnd, now, nowEnd) => {
        expect(apply(old + oldEnd, unifiedHunks(old + oldEnd, now + nowEnd))).toBe(now + nowEnd);
      }),
    );
  });

  it('the same text has no hunks', () => {
    expect(unifiedHunks('a\nb\n', 'a\nb\n')).toEqual([]);
  });

  it('a long difference is put together around lines that occur once: what is the same between them stays', () => {
    const inserted = (at: number) => (at % 100 > 97 ? `a line that came with ${at}\n` : '');
    const text = (from: number, to: number, more: (at: number) => string) =>
      Array.from({ length: to - from }, (_, at) => `${from + at} x\n${more(from + at)}repeated\n`).join('');
    const before = text(0, 1500, () => '');
    const after = text(700, 2200, inserted);
    const hunks = unifiedHunks(before, after);
    const changed = hunks.flatMap(({ lines }) => lines.filter((line) => !line.startsWith(' ')));
    expect(changed.filter((line) => line.startsWith('-'))).toHaveLength(1400);
    expect(changed.filter((line) => line.startsWith('+'))).toHaveLength(1400 + 30);
    for (const [at, { oldStart, oldLines }] of hunks.entries())
      expect(hunks[at + 1]?.oldStart ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(oldStart + oldLines);
    expect(apply(before, hunks)).toBe(after);
    const unended = unifiedHunks(before.trimEnd(), after.trimEnd());
    expect(apply(before.trimEnd(), unended)).toBe(after.trimEnd());
  });

  it('two windows of a long log differ in what left and what came, found by where they overlap', () => {
    const before = lines(0, 30_000, 'x');
    const after = lines(12_000, 42_000, 'x');
    const hunks = unifiedHunks(before, after);
    expect(hunks.map(({ oldStart, oldLines, newStart, newLines }) => [oldStart, oldLines, newStart, newLines])).toEqual(
      [
        [1, 12_003, 1, 3],
        [29_998, 3, 17_998, 12_003],
      ],
    );
    expect(apply(before, hunks)).toBe(after);
  });
});
