import fc from 'fast-check';
import type { JoinedLog } from '../../../../archive/read/log/joined-log';
import { LogHistory } from '../../../../archive/read/log/log-history';
import { LogReader, type ReadLog } from '../../../../archive/read/log/log-reader';
import type { Seam } from '../../../../archive/read/log/seam';
import { rounds } from '../../../support/rounds';

function read(text: string | Buffer, earlier?: JoinedLog, chunk = 7): ReadLog {
  const reader = new LogReader(earlier);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunk) reader.write(bytes.subarray(at, at + chunk));
  return reader.result();
}

/** How the later text follows the earlier one, and what of it is new. */
function seamOf(
  earlier: string | Buffer,
  later: string | Buffer,
): Omit<Partial<Seam>, 'above'> & { above: string; below: string } {
  const { seam } = read(later, read(earlier).joined);
  if (seam === undefined) throw new Error('there is one seam');
  const { kind, above, aboveFrom, added, newFrom } = seam;
  const rows = Buffer.from(later)
    .toString()
    .split(/(?<=\n)/);
  const below = Buffer.from(later).toString('utf8', newFrom);
  return { kind, added, above: rows.slice(aboveFrom, aboveFrom + above).join(''), below };
}

/** Numbered lines, from one to before another. */
function lines(from: number, to: number, end = '\n'): string {
  return Array.from({ length: to - from }, (_, at) => `line ${from + at}${end}`).join('');
}

const banner = 'starting\nready\nlistening\n';
const gap = (text: string) => ({ kind: 'gap', below: text, added: text.match(/[^\n]+\n?/g)?.length });
const older = { kind: 'older', added: 0 };
const continues = (below: string, added: number) => ({ kind: 'continues', added, below });
const unchanged = { kind: 'unchanged', added: 0 };

/** The same lines, the last one first. */
const newestFirst = (text: string) => `${text.split('\n').slice(0, -1).reverse().join('\n')}\n`;

describe('a log that follows an earlier one', () => {
  it.each<[string, string | Buffer, string | Buffer, object | 'gap']>([
    ['grows', lines(0, 9), lines(0, 11), continues(lines(9, 11), 2)],
    ['loses its first lines', lines(0, 9), lines(4, 11), continues(lines(9, 11), 2)],
    ['loses a part of its first line', lines(0, 9), lines(4, 11).slice(3), continues(lines(9, 11), 2)],
    ['reaches further back', lines(5, 9), lines(0, 11), { ...continues(lines(9, 11), 2), above: lines(0, 5) }],
    [
      'reaches further back than a first line that is cut',
      lines(5, 9).slice(3),
      lines(0, 11),
      { ...continues(lines(9, 11), 2), above: lines(0, 6) },
    ],
    ['is the same', lines(0, 9), lines(0, 9), unchanged],
    ['only loses its first lines', lines(0, 9), lines(5, 9), unchanged],
    ['is a stale answer', lines(0, 9), lines(0, 7), older],
    ['is a stale answer, and further on', lines(0, 9), lines(1, 7), older],
    ['is a stale answer, and cut in its last line', lines(0, 9), lines(1, 9).slice(0, -3), older],
    ['begins behind the end', lines(0, 9), lines(9, 15), gap(lines(9, 15))],
    ['has two lines behind the first in common', lines(0, 9), lines(6, 11), gap(lines(6, 11))],
    ['has three', lines(0, 9), lines(5, 11), continues(lines(9, 11), 2)],
    ['ends its line with CRLF', lines(0, 9, '\r\n'), lines(4, 11, '\r\n'), continues(lines(9, 11, '\r\n'), 2)],
    ['goes on in the last line', `${lines(0, 9)}lin`, lines(4, 11), continues(`e 9\n${lines(10, 11)}`, 2)],
    ['only ends the last line', lines(0, 9).slice(0, -1), lines(0, 9), { ...unchanged, below: '\n' }],
    ['has another last line', `${lines(0, 9)}lin`, `${lines(4, 9)}other`, 'gap'],
    ['has half a character at its end', Buffer.from('a\nb\nc\n日').subarray(0, -1), 'a\nb\nc\n日x', continues('', 1)],
    ['has no LF at all', 'x'.repeat(250), `${'x'.repeat(250)}y`, continues('y', 1)],
    ['has no LF, and little text', 'abc', 'abcd', continues('d', 1)],
    ['is a banner that goes on', 'starting\n', 'starting\nready\n', continues('ready\n', 1)],
    ['has only a banner in common', `${lines(0, 3)}starting\n`, 'x\nstarting\nready\n', 'gap'],
    [
      'has one long line in common',
      `an a\n${'x'.repeat(200)}\n`,
      `a\n${'x'.repeat(200)}\nnew\n`,
      continues('new\n', 1),
    ],
    ['has one line under 200 bytes', `an a\n${'x'.repeat(199)}\n`, `a\n${'x'.repeat(199)}\n`, 'gap'],
    ['has heartbeats in common', `${lines(0, 3)}${'h\n'.repeat(9)}`, `${'h\n'.repeat(9)}new\n`, 'gap'],
    ['is begun anew with the lines of before, but for the first', `boot 1\n${banner}`, `boot 2\n${banner}`, 'gap'],
    ['is begun anew, and is short', `boot 1\n${banner}${lines(0, 9)}`, `boot 2\n${banner}`, 'gap'],
    [
      'has another line before all that is known of the earlier one',
      `boot 1\n${banner}open`,
      `${lines(0, 9)}boot 2\n${banner}open\n`,
      'gap',
    ],
    [
      'begins with another line than the earlier one has there',
      `${lines(0, 9)}boot 1\n${banner}`,
      `boot 2\n${banner}new\n`,
      'gap',
    ],
    [
      'has the first line whole that was cut',
      `ot 1\n${banner}`,
      `boot 1\n${banner}new\n`,
      { ...continues('new\n', 1), above: 'boot 1\n' },
    ],
  ])('%s', (_, earlier, later, expected) => {
    const seam = seamOf(earlier, later);
    const all = expected === 'gap' ? gap(String(later)) : { above: '', below: '', ...expected };
    if (Buffer.isBuffer(earlier)) expect({ ...seam, below: '' }).toEqual({ ...all, below: '' });
    else expect(seam).toMatchObject(all);
  });

  const frame = (at: number, text: string) => `top ${at}\n${text}bottom ${at}\n`;
  it.each<[string, string, string, object]>([
    [
      'moves on, newest first',
      newestFirst(lines(0, 9)),
      newestFirst(lines(3, 12)),
      { above: newestFirst(lines(9, 12)) },
    ],
    ['grows, newest first', newestFirst(lines(0, 9)), newestFirst(lines(0, 12)), { above: newestFirst(lines(9, 12)) }],
    [
      'is cut in its last line, newest first',
      newestFirst(lines(0, 9)),
      newestFirst(lines(3, 12)).slice(0, -4),
      { above: newestFirst(lines(9, 12)) },
    ],
    [
      'shares too little, newest first',
      newestFirst(lines(0, 9)),
      newestFirst(lines(7, 12)),
      { kind: 'gap', below: newestFirst(lines(7, 12)) },
    ],
    ['turns', lines(0, 12), newestFirst(lines(2, 14)), { above: newestFirst(lines(12, 14)), isTurned: true }],
    ['turns back', newestFirst(lines(0, 12)), lines(2, 14), { below: lines(12, 14), isTurned: true }],
    ['turns, and shares too little', lines(0, 12), newestFirst(lines(6, 14)), { kind: 'gap' }],
    [
      'has another last line each time',
      `${lines(0, 9)}now 1\n`,
      `${lines(2, 12)}now 2\n`,
      { below: `${lines(9, 12)}now 2\n`, without: ['last'] },
    ],
    [
      'has another first line each time',
      `now 1\n${lines(0, 9)}`,
      `now 2\n${lines(2, 12)}`,
      { above: 'now 2\n', below: lines(9, 12), without: ['first'] },
    ],
    [
      'has another first line each time, as long as the line there',
      `day 1\n${lines(0, 9)}`,
      `day 2\n${lines(2, 10)}`,
      { above: 'day 2\n', below: lines(9, 10), without: ['first'] },
    ],
    [
      'has another first line each time, shorter than the line there',
      `1:00\n${lines(0, 9)}`,
      `2:00\n${lines(2, 10)}`,
      { above: '2:00\n', below: lines(9, 10), without: ['first'] },
    ],
    [
      'has other first and last lines each time, newest first',
      frame(1, newestFirst(lines(0, 9))),
      frame(2, newestFirst(lines(2, 12))),
      { above: `top 2\n${newestFirst(lines(9, 12))}`, below: 'bottom 2\n', without: ['first', 'last'] },
    ],
    [
      'has another first line each time, and the line behind it is cut',
      `now 1\n${lines(0, 12)}`,
      `now 2\n${lines(2, 14).slice(2)}`,
      { above: 'now 2\n', below: lines(12, 14), without: ['first'] },
    ],
    [
      'has another first line each time, and the line whole that was cut behind it',
      `now 1\n${lines(3, 14).slice(2)}`,
      `now 2\n${lines(0, 16)}`,
      { above: `now 2\n${lines(0, 4)}`, below: lines(14, 16), without: ['first'] },
    ],
    [
      'has another last line each time, and the line whole that was cut before it, newest first',
      `${newestFirst(lines(3, 14)).slice(0, -4)}\nnow 1\n`,
      `${newestFirst(lines(0, 16))}now 2\n`,
      { above: newestFirst(lines(14, 16)), below: `${newestFirst(lines(0, 4))}now 2\n`, without: ['last'] },
    ],
    [
      'is begun anew with the same lines but for the first, and is short',
      `boot 1\n${lines(0, 12)}`,
      `boot 2\n${lines(0, 9)}`,
      { kind: 'gap' },
    ],
    [
      'has another first line each time, and the line behind it is another one too',
      `now 1\n${lines(0, 12)}`,
      `now 2\nno line of it\n${lines(3, 14)}`,
      { kind: 'gap' },
    ],
    [
      'begins with the lines that the log before ends with, newest first',
      newestFirst(lines(0, 4) + lines(10, 18)),
      newestFirst(lines(11, 20) + lines(0, 4)),
      { above: newestFirst(lines(18, 20) + lines(0, 4)) },
    ],
    [
      'has another last line, and nothing else is new',
      `${lines(0, 9)}now 1\n`,
      `${lines(0, 9)}now 2\n`,
      { kind: 'unchanged', below: 'now 2\n', without: ['last'] },
    ],
    [
      'has another last line each time, and shares too little for that',
      `${lines(0, 9)}now 1\n`,
      `${lines(3, 9)}now 2\n`,
      { kind: 'gap' },
    ],
    [
      'ends its lines with CRLF now',
      lines(0, 9),
      lines(4, 11, '\r\n'),
      { below: lines(9, 11, '\r\n'), lineEnds: 'CRLF' },
    ],
    ['ends its lines with LF again', lines(0, 9, '\r\n'), lines(4, 11), { below: lines(9, 11), lineEnds: 'LF' }],
    ['is the same with CRLF', lines(0, 9), lines(0, 9, '\r\n'), { kind: 'unchanged', lineEnds: 'CRLF' }],
    [
      'ends its lines with CRLF now, and its last one goes on',
      `${lines(0, 9)}li`,
      lines(4, 11, '\r\n'),
      { below: lines(9, 11, '\r\n').slice(2), lineEnds: 'CRLF' },
    ],
    [
      'only ends its last line, with CRLF',
      `${lines(0, 9)}x`,
      `${lines(0, 9)}x\r\n`,
      { kind: 'unchanged', below: '\r\n' },
    ],
  ])('%s', (_, earlier, later, expected) => {
    const { seam } = read(later, read(earlier).joined);
    expect({ ...seam, ...seamOf(earlier, later) }).toMatchObject({ kind: 'continues', above: '', ...expected });
  });

  it.each<[string, string[], object]>([
    [
      'oldest first, and has lines that none had',
      [lines(20, 60), lines(25, 65), lines(10, 50)],
      { kind: 'older', above: 10 },
    ],
    [
      'newest first, and has lines that none had',
      [lines(20, 60), lines(25, 65), lines(10, 50)].map(newestFirst),
      { kind: 'older', added: 10 },
    ],
    [
      'turned since, and has lines that none had',
      [lines(20, 60), lines(25, 65), newestFirst(lines(30, 70)), newestFirst(lines(10, 50))],
      { kind: 'older', added: 10 },
    ],
    ['long, oldest first', [0, 1, 2, 3, 4].map((at) => lines(300 * at, 300 * at + 600)), { added: 300, shared: 300 }],
    [
      'long, newest first',
      [0, 1, 2, 3, 4].map((at) => newestFirst(lines(300 * at, 300 * at + 600))),
      { kind: 'continues', above: 300, shared: 300 },
    ],
    ['framed', [1, 2, 1].map((at) => frame(at, lines(0, 10 + 2 * at))), { kind: 'older', without: ['first', 'last'] }],
    ['all the same line', Array.from({ length: 3 }, () => 'alive\n'.repeat(2500)), { kind: 'unchanged' }],
  ])('is judged by all logs before it: of a log that is %s', (_, texts, expected) => {
    const history = new LogHistory();
    const seams = texts.map((text, at) => {
      const reader = history.reader();
      reader.write(Buffer.from(text));
      return history.add(new Date(at), reader.result()).seam;
    });
    expect(seams.at(-1)).toMatchObject(expected);
  });

  it('may be of bytes that are not UTF-8', () => {
    const bytes = (from: number, to: number) =>
      Buffer.concat(Array.from({ length: to - from }, (_, at) => Buffer.from([0xff, 0xfe, from + at, 0x0a])));
    expect(read(bytes(20, 29), read(bytes(12, 27)).joined).seam).toMatchObject({ kind: 'continues', added: 2 });
  });

  it('is as far behind as the longest overlap allows, where lines that repeat allow others', () => {
    const period = 'line a\nline b\nline c\n';
    expect(seamOf(period.repeat(3), `${period.repeat(3)}line a\n`)).toMatchObject({ added: 1 });
    expect(seamOf(`x\n${period.repeat(3)}`, `c\n${period.repeat(2)}z\n`)).toMatchObject(continues('z\n', 1));
  });

  it('is unknown without a text', () => {
    expect(seamOf('a\n', '')).toMatchObject({ kind: 'unknown', added: 0 });
  });

  it('goes on with a line that ended in carriage returns, wherever the text is cut', () => {
    const earlier = `${lines(0, 9)}progress 50%\r\r`;
    const later = `${lines(5, 9)}progress 50%\r\rprogress 60%\n${lines(10, 12)}`;
    for (const chunk of [1, 2, 7, 13, 100])
      expect(read(later, read(earlier).joined, chunk).seam).toMatchObject({ kind: 'continues' });
  });

  it('is told the same in chunks of any size', () => {
    const earlier = `${lines(0, 60, '\r\n')}half`;
    const later = `${lines(40, 60, '\r\n')}half a line\r\n${lines(60, 70)}\r a \r\r\n\r`;
    const seams = [1, 2, 3, 64, 100_000].map(
      (chunk) => read(later, read(earlier, undefined, chunk).joined, chunk).seam,
    );
    expect(new Set(seams.map((seam) => JSON.stringify(seam))).size).toBe(1);
  });
});

/** What a service shows at a run: so many last lines, after so many new ones; and whether it answers stale after that. */
const snapshot = fc.record({ added: fc.nat(20), shown: fc.integer({ min: 5, max: 30 }), isStale: fc.boolean() });

it('logs of which a service shows ever another part are joined, with a gap exactly where less than a proof is shared', () => {
  const tried = rounds(1000);
  const seen = { continues: 0, unchanged: 0, gap: 0, older: 0, unknown: 0 };
  fc.assert(
    fc.property(fc.array(snapshot, { minLength: 2, maxLength: 12 }), (snapshots) => {
      const history = new LogHistory();
      const read = (from: number, to: number) => {
        const reader = history.reader();
        const text = Buffer.from(lines(from, to));
        reader.write(text);
        const { seam } = history.add(new Date(0), reader.result());
        seen[seam.kind] += 1;
        return { kind: seam.kind, new: text.toString('utf8', seam.newFrom) };
      };
      let [before, end] = [0, 40];
      read(0, end);
      for (const { added, shown, isStale } of snapshots) {
        const [from, to] = [Math.max(before, end + added - shown), end + added];
        // A first line may be cut, and proves nothing. From the same first line on, all of the log is there again.
        const isShared = end - from - 1 >= 3 || from === before;
        const kind = isShared ? (added === 0 ? 'unchanged' : 'continues') : 'gap';
        expect(read(from, to)).toEqual({ kind, new: lines(isShared ? end : from, to) });
        if (isStale && to - from > 5) expect(read(from, to - 1).kind).toBe('older');
        [before, end] = [from, to];
      }
    }),
    tried,
  );
  expect(Math.min(seen.continues, seen.unchanged, seen.gap, seen.older)).toBeGreaterThan(tried.numRuns / 20);
});

describe('a text of any size', () => {
  it('is compared by its last 100,000 lines', () => {
    const earlier = read(lines(0, 120_000), undefined, 65_536).joined;
    expect(earlier.lines.from).toBe(20_000);
    const later = read(lines(100_000, 210_000), earlier, 65_536);
    expect(later.seam).toMatchObject({ kind: 'continues', added: 90_000, shared: 20_000 });
  });

  it.each([
    ['empty lines', Buffer.alloc(32_768, '\n')],
    ['a line without end', Buffer.alloc(32_768, 'x')],
    ['two lines by turns', Buffer.from('a\nb\n'.repeat(16_384))],
  ])('of %s takes memory and time for 100,000 lines', (_, chunk) => {
    const write = (earlier: JoinedLog | undefined, chunks: number) => {
      const reader = new LogReader(earlier);
      for (let at = 0; at < chunks; at += 1) reader.write(chunk);
      return reader.result();
    };
    const { joined } = write(undefined, 4);
    expect(joined.lines.count).toBeLessThanOrEqual(100_000);
    expect(write(joined, 4).seam?.kind).toBe('unchanged');
  });
});
