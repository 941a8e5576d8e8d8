import { applyPatch } from 'diff';
import fc from 'fast-check';
import { unifiedHunks } from '../../../cli/commands/unified-hunks';

function apply(before: string, hunks: ReturnType<typeof unifiedHunks>): string | false {
  return applyPatch(before, {
    oldFileName: 'a',
    newFileName: 'b',
    oldHeader: undefined,
    newHeader: undefined,
    hunks: hunks ?? [],
  });
}

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

  it('a difference of more than a thousand lines is none', () => {
    const text = (from: number) => Array.from({ length: 1000 }, (_, at) => `${from + at}\n`).join('');
    expect(unifiedHunks(text(0), text(500))).toHaveLength(2);
    expect(unifiedHunks(text(0), text(501))).toBeUndefined();
  });
});
