import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { type Outcome, outcomeSchema, type RunRecord, runSchema } from '../../../archive/format/run-record';
import { longestLineBytes, parseRunRecord } from '../../../archive/format/run-record-lines';
import { anyCharacter } from '../../support/any-character';
import { emptyRunRecord, recordText } from '../../support/record-text';
import { rounds } from '../../support/rounds';

const run = new Date('2026-11-20T10:00:00.000Z');
const name = { run, attempt: 1 };

const empty = emptyRunRecord(run);

const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom('"', '\\', '}\n{', '\r', '\u2028', '","outcomes":1', '\ud800'),
);
const outcome = fc.record(
  { cluster: text, resource: fc.constantFrom('log', 'manifest'), outcome: fc.constantFrom('archived', 'failed') },
  { requiredKeys: ['cluster', 'resource', 'outcome'] },
);
/** Members beside those of the format: a later version may have them, and whoever may write can add them. */
const extended = fc
  .tuple(outcome, fc.dictionary(fc.constantFrom('attempt', '__proto__', 'toString', 'x'), fc.jsonValue()))
  .map(([one, more]) => ({ ...more, ...one }));
const member = fc
  .tuple(fc.constantFrom('outcomes', 'cluster', 'shard', 'error', '__proto__', 'x'), fc.jsonValue())
  .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
/** Mostly nothing: a value that is not valid is the end of a record. */
const seldom = <Item>(often: Item, other: fc.Arbitrary<Item>) =>
  fc.oneof({ weight: 60, arbitrary: fc.constant(often) }, { weight: 1, arbitrary: other });
const space = fc.oneof(
  { weight: 200, arbitrary: fc.constantFrom('', ' ', '\t') },
  { weight: 1, arbitrary: fc.constantFrom('\r', '\n', '\u00a0', '\ufeff') },
);

/** An object on a line of its own, written in any way: with white space, and with members twice. */
function lineOf(value: object, [a, b, c]: readonly [string, string, string], before: string, after: string): string {
  const own = JSON.stringify(value).slice(1, -1);
  return `${a}{${before && `${before},`}${own}${after && `,${after}`}${b}}${c}\n`;
}
const written = (value: fc.Arbitrary<object>) =>
  fc.tuple(value, fc.tuple(space, space, space), seldom('', member), seldom('', member)).map((all) => lineOf(...all));

const whole = fc
  .tuple(fc.array(written(fc.oneof(outcome, extended)), { maxLength: 5 }), seldom(0, fc.integer({ min: -1, max: 1 })))
  .chain(([lines, more]) =>
    written(fc.constant({ ...empty, outcomes: lines.length + more })).map((head) =>
      Buffer.from([head, ...lines].join('')),
    ),
  );

/** Bytes that structure depends on, and some that are no UTF-8. */
const byte = fc.oneof(
  fc.constantFrom(...Buffer.from('"\\[]{},: 0x\n\r')),
  fc.constantFrom(0xe2, 0x80, 0xff),
  fc.nat(255),
);
const wounded = fc
  .tuple(whole, fc.nat(), fc.nat(3), fc.array(byte, { maxLength: 2 }))
  .map(([bytes, seed, removed, added]) => {
    const at = seed % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(added), bytes.subarray(at + removed)]);
  });

/** What a reader of JSON Lines reads who has all the time and memory; undefined for what is no record. */
function readAtLeisure(bytes: Buffer): RunRecord | undefined {
  if (!isUtf8(bytes) || bytes.includes('\r') || bytes.at(-1) !== 0x0a) return undefined;
  try {
    const [head, ...lines] = bytes
      .toString()
      .slice(0, -1)
      .split('\n')
      .map((line) => JSON.parse(line));
    const { outcomes: count, ...own } = runSchema.parse(head);
    const outcomes = lines.map((line): Outcome => outcomeSchema.parse(line));
    const isOwn = own.run === empty.run && own.attempt === 1 && own.shard === undefined;
    return isOwn && count === outcomes.length ? { ...own, outcomes } : undefined;
  } catch {
    return undefined;
  }
}

function read(bytes: Buffer): RunRecord | string {
  try {
    const record = parseRunRecord(name, bytes);
    const outcomes = [...record.outcomes];
    // Whoever reads it again does not judge its lines again.
    expect([...parseRunRecord(name, bytes, record.outcomes.hasOthers).outcomes]).toEqual(outcomes);
    return { ...record, outcomes };
  } catch (error) {
    if ((error as Error).name !== 'RunRecordError') throw error;
    return (error as Error).message;
  }
}

function outcomesOf(...clusters: string[]): Outcome[] {
  return clusters.map((cluster) => ({ cluster, resource: 'log', outcome: 'failed' }));
}

describe('a stored run record', () => {
  it('is read as any reader of JSON Lines reads it', () => {
    let records = 0;
    const tried = rounds(600);
    fc.assert(
      fc.property(fc.oneof(whole, wounded), (bytes) => {
        const expected = readAtLeisure(bytes);
        if (expected !== undefined && expected.outcomes.length > 0) records += 1;
        const found = read(bytes);
        if (expected === undefined) expect(found).toEqual(expect.any(String));
        else expect(found).toEqual(expected);
      }),
      tried,
    );
    // Otherwise nearly all texts were refused, and equal refusals show little.
    expect(records).toBeGreaterThan(tried.numRuns / 6);
  });

  const [head, good, other] = recordText({ ...empty, outcomes: outcomesOf('a', 'b') }).split(/(?<=\n)/) as [
    string,
    string,
    string,
  ];
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const with_ = (line: string, more: string) => line.replace('}\n', `,${more}}\n`);
  const longest = with_(good, `"x":"${'x'.repeat(longestLineBytes - good.length - 6)}"`);

  it.each([
    ['as it was written', head + good + other, ['a', 'b']],
    ['with a line that is as long as one may be', head + longest + other, ['a', 'b']],
    ['with deep nesting', with_(head, `"x":${deep}`) + with_(good, `"x":${deep}`) + other, ['a', 'b']],
    ['with a member twice: the last counts', head + with_(good, '"cluster":"c"') + other, ['c', 'b']],
    ['with names of prototypes', head + with_(good, '"__proto__":{"cluster":"c"},"toString":1') + other, ['a', 'b']],
    ['with a uid that is such a name', head + good.replace('"a"', '"__proto__"') + other, ['__proto__', 'b']],
  ])('is read %s', (_, stored, clusters) => {
    const record = parseRunRecord(name, Buffer.from(stored));
    expect([...record.outcomes].map(({ cluster }) => cluster)).toEqual(clusters);
    for (const one of record.outcomes) expect(Object.keys(one)).toEqual(['cluster', 'resource', 'outcome']);
  });

  it.each([
    ['no bytes', '', 'it is empty'],
    ['fewer lines than it says', head + good, 'it has 1 of 2 outcomes'],
    ['more lines than it says', head + good + other + good, 'it has more than 2 outcomes'],
    ['a head that is cut', head.slice(0, -1), 'line 1: it does not end with LF'],
    ['an empty line', `${head}\n${good}${other}`, 'line 2: it is not JSON'],
    ['two outcomes on a line', head + good.replace('\n', other), 'line 2: it is not JSON'],
    ['a carriage return in a line', head + good.replace(':', ':\r') + other, 'line 2: it has a carriage return'],
    ['a byte order mark', `\ufeff${head}${good}${other}`, 'line 1: it is not JSON'],
    ['a line that is not an object', `${head}[]\n${other}`, 'line 2: it: '],
    ['an outcome in place of the run', good + good + other, 'line 1: version: '],
    ['a wrong member', head + good.replace('"failed"', '"lost"') + other, 'line 2: outcome: '],
    ['more outcomes than a record may have', with_(head, '"outcomes":1e6') + good, 'it has 1 of 1000000 outcomes'],
    ['many more of them', with_(head, '"outcomes":1000001') + good, 'line 1: outcomes: '],
    [
      'a line that is too long',
      head + longest.replace('"x":"', '"x":"x') + other,
      'line 2: it is longer than 1048576 bytes',
    ],
  ])('is refused with %s', (_, stored, problem) => {
    expect(read(Buffer.from(stored))).toContain(`it is not a valid run record: ${problem}`);
  });

  it('is refused under the key of another attempt, shard or run', () => {
    const bytes = Buffer.from(recordText(empty));
    const names = [
      { run, attempt: 2 },
      { run, attempt: 1, shard: { index: 0, count: 2 } },
      { run: new Date(0), attempt: 1 },
    ];
    for (const one of names) expect(() => parseRunRecord(one, bytes)).toThrow('another run, shard or attempt');
  });

  it('gives outcomes in any order', () => {
    const outcomes = outcomesOf('a', 'ü', 'c');
    const record = parseRunRecord(name, Buffer.from(recordText({ ...empty, outcomes })));
    expect([2, 0, 1, 3, -1].map((index) => record.outcomes.at(index)?.cluster)).toEqual([
      'c',
      'a',
      'ü',
      undefined,
      undefined,
    ]);
    expect([...record.outcomes]).toEqual(outcomes);
    expect([...record.outcomes]).toEqual(outcomes);
  });
});
