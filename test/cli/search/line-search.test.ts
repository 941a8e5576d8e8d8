import { spawnSync } from 'node:child_process';
import { InvalidArgumentError } from 'commander';
import fc from 'fast-check';
import { linePattern } from '../../../cli/search/line-pattern';
import { type FoundLine, LineSearch, longestLine } from '../../../cli/search/line-search';
import { heldBytes } from '../../support/held-bytes';
import { rounds } from '../../support/rounds';

interface Searched {
  readonly found: FoundLine[];
  readonly matches: number;
  readonly cutLines: number;
}

function search(text: string | Buffer, matches: (line: string) => boolean, context = 0, chunkSize = 7): Searched {
  const found: FoundLine[] = [];
  const lines = new LineSearch({ matches, context, onFound: (line) => found.push(line) });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkSize) lines.write(bytes.subarray(at, at + chunkSize));
  lines.end();
  return { found, matches: lines.matches, cutLines: lines.cutLines };
}

const numbers = ({ found }: Searched) => found.map(({ number }) => number);

describe('a search of lines', () => {
  it('takes CR LF for the end of a line too', () => {
    const matches = (pattern: string) => numbers(search('an x\r\nx y\r\nx\n\r\n', linePattern(pattern, {})));
    expect(matches('x$')).toEqual([1, 3]);
    expect(matches('^$')).toEqual([4]);
    expect(matches('x\r')).toEqual([1]);
  });

  it('finds every line that matches, however the text is cut into chunks', () => {
    const line = fc.array(fc.constantFrom('a', 'b', 'é', '東', '😀', '\r', ' '), { maxLength: 6 });
    const text = fc.array(
      line.map((characters) => characters.join('')),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(text, fc.boolean(), fc.integer({ min: 1, max: 30 }), (lines, endsWithNewline, chunkSize) => {
        const whole = lines.join('\n') + (endsWithNewline ? '\n' : '');
        const expected = whole.split('\n').slice(0, whole.endsWith('\n') || whole === '' ? -1 : undefined);
        const { found } = search(whole, () => true, 0, chunkSize);
        expect(found.map(({ text: one }) => one)).toEqual(expected);
        expect(found.map(({ number }) => number)).toEqual(expected.map((_, at) => at + 1));
      }),
    );
  });

  it('of a very long line searches the beginning, and the lines after it keep their numbers', () => {
    const long = 'é'.repeat(longestLine / 2 - 1);
    const text = `first\n${long}in\n${long}behind\nlast\n`;
    const searched = search(text, (line) => /in|behind|last/.test(line), 0, 64 * 1024);
    expect([numbers(searched), searched.matches, searched.cutLines]).toEqual([[2, 4], 2, 1]);
    const [cut] = search(`x${long}behind`, () => true, 0, 64 * 1024).found;
    expect(cut?.text).toBe(`x${long}b…`);
  });

  it('takes memory that does not grow with the line', () => {
    const lines = new LineSearch({ matches: () => false, context: 3, onFound: () => {} });
    const chunk = 64 * 1024;
    const before = heldBytes();
    for (let at = 0; at < (8 * longestLine) / chunk; at += 1) lines.write(Buffer.alloc(chunk, 'x'));
    const held = heldBytes() - before;
    lines.end();
    expect(lines.cutLines).toBe(1);
    expect(held).toBeLessThan(1.5 * longestLine);
  });
});

describe('a pattern', () => {
  const regex = (text: string, ignoreCase = false) => linePattern(text, { fixedStrings: false, ignoreCase });

  it.each(['(?=a)', '(a)\\1', 'a(?!b)', '(', '[', 'a**', '\\'])('%s is refused, with the reason', (text) => {
    expect(() => regex(text)).toThrow(InvalidArgumentError);
    expect(() => regex(text)).toThrow(/expected a regular expression in RE2 syntax, or -F for a text/);
  });

  it('with a line end is refused', () => {
    expect(() => regex('a\nb')).toThrow('It has a line end');
  });

  it.each(['(a|a)*$', 'a.*a.*a.*a.*a.*b'])('%s takes no longer than a line is long', (text) => {
    const matches = regex(text);
    const seconds = (length: number) => {
      const line = `${'a'.repeat(length)}!`;
      const start = process.cpuUsage().user;
      matches(line);
      return (process.cpuUsage().user - start) / 1e6;
    };
    // Exponential or quadratic time would not end within the lifetime of the test.
    expect(seconds(200_000)).toBeLessThan(20);
  });

  it('-i ignores the case of any script', () => {
    for (const [pattern, line] of [
      ['oomkilled', 'OOMKilled'],
      ['STRASSE É', 'strasse é'],
      ['[a-c]+é$', 'ABCÉ'],
    ] as const)
      expect(regex(pattern, true)(line)).toBe(true);
    expect(linePattern('a.c', { fixedStrings: true, ignoreCase: true })('xA.C')).toBe(true);
    expect(linePattern('a.c', { fixedStrings: true, ignoreCase: true })('abc')).toBe(false);
  });
});

const grep = spawnSync('grep', ['--version']);
const reason = grep.status === 0 && grep.stdout.includes('GNU') ? undefined : 'there is no GNU grep';

(reason === undefined ? describe : describe.skip)(
  `beside grep${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    const env = { ...process.env, LC_ALL: 'C.UTF-8' };

    /** What grep -n prints: the number, `:` or `-`, and the line. */
    function grepped(args: readonly string[], pattern: string, text: string): string[] {
      const { stdout, status, stderr } = spawnSync('grep', ['-a', '-n', ...args, '-e', pattern], { input: text, env });
      if (status === 2 || status === null) throw new Error(`grep ${pattern} failed: ${stderr}`);
      return stdout.toString().split('\n').slice(0, -1);
    }

    const ours = (pattern: string, text: string, context: number, isFixed: boolean, ignoreCase: boolean) =>
      search(text, linePattern(pattern, { fixedStrings: isFixed, ignoreCase }), context, 5).found.flatMap((line) => [
        ...(line.isApart ? ['--'] : []),
        `${line.number}${line.isMatch ? ':' : '-'}${line.text}`,
      ]);

    const textOf = (letters: readonly string[]) =>
      fc
        .array(fc.array(fc.constantFrom(...letters), { maxLength: 8 }), { minLength: 1, maxLength: 10 })
        .map((lines) => lines.map((line) => `${line.join('')}\n`).join(''));
    const context = fc.integer({ min: 0, max: 2 });

    const letters = ['a', 'b', 'A', ' ', '0', '-', '.', 'é', '東', '😀'];
    /** What they mean is the library's concern; these mean the same to both, and match any part of a line. */
    const expressions = ['a', '^b', '[ab]$', 'é|0', '^(a|東)?[^ ]*$', '\\.+', '^$', 'A{1,2}[[:digit:]]'];

    it.each(expressions)('finds the same lines for %s in random texts', (expression) => {
      fc.assert(
        fc.property(textOf(letters), context, (lines, around) => {
          const args = around === 0 ? ['-E'] : ['-E', '-C', `${around}`];
          expect(ours(expression, lines, around, false, false)).toEqual(grepped(args, expression, lines));
        }),
        rounds(50),
      );
    });
  },
);
