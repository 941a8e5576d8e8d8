import fc from 'fast-check';
import { type JsonError, jsonErrorOf } from '../../../../archive/format/json/json-chunk';
import { JsonScanner } from '../../../../archive/format/json/json-scanner';
import type { StringSink } from '../../../../archive/format/json/json-string-scanner';
import { bytewise, parsed, split, splits, woundedDocument } from '../../../support/json-documents';
import { rounds } from '../../../support/rounds';

/** Scans a document for its well-formedness alone; undefined if the scanner accepts it. */
function scanJson(chunks: readonly Buffer[]): JsonError | undefined {
  const scanner = new JsonScanner(() => undefined);
  return jsonErrorOf(() => {
    for (const chunk of chunks) scanner.write(chunk);
    scanner.end();
  });
}

describe('JsonScanner', () => {
  it('agrees with JSON.parse on documents, whole and wounded, under random splits', () => {
    const verdicts = { accepted: 0, rejected: 0 };
    const tried = rounds(10_000);
    fc.assert(
      fc.property(woundedDocument, splits, (document, at) => {
        const isAccepted = parsed(document) !== undefined;
        verdicts[isAccepted ? 'accepted' : 'rejected'] += 1;
        const whole = scanJson([document]);
        expect(whole === undefined).toBe(isAccepted);
        // Nor does it matter where the document is split: the verdict, its reason and its place stay the same.
        expect(scanJson(split(document, at))?.message).toBe(whole?.message);
      }),
      tried,
    );
    expect(Math.min(verdicts.accepted, verdicts.rejected)).toBeGreaterThan(tried.numRuns / 10);
  });

  it.each([
    ['[1,]', 3],
    ['{a:1}', 1],
    ['01', 1],
    ['[1.]', 3],
    ['1.e5', 2],
    ['.5', 0],
    ['nul1', 3],
    ['NaN', 0],
    ['"\\x"', 2],
    ['"\\u12g4"', 5],
    ['"a\nb"', 2],
    ['[1] // comment', 4],
    ['\u00a0[]', 0],
    ['\ufeff\ufeff{}', 3],
    [' \ufeff{}', 1],
    ['{}\ufeff', 2],
    ['[\ufeff]', 1],
  ])('rejects %j at byte %d', (document, offset) => {
    const bytes = Buffer.from(document);
    expect(parsed(bytes)).toBeUndefined();
    expect(scanJson([bytes])).toMatchObject({ fault: 'syntax', offset });
    expect(scanJson(bytewise(bytes))).toMatchObject({ fault: 'syntax', offset });
  });

  it('ignores a byte order mark at the beginning, however it is split', () => {
    const document = Buffer.from('\ufeff {"a":1}');
    expect(scanJson([document])).toBeUndefined();
    expect(scanJson(bytewise(document))).toBeUndefined();
    expect(scanJson([Buffer.from([0xef, 0xbb])])).toMatchObject({ fault: 'cut' });
    expect(scanJson([Buffer.from([0xef, 0xbb, 0xbe, 0x30])])).toMatchObject({ fault: 'syntax', offset: 2 });
  });

  it('says which byte it did not expect, and where', () => {
    expect(scanJson([Buffer.from('{"a":<html>')])?.message).toBe('unexpected "<" at byte 5');
    expect(scanJson([Buffer.from('["a\u0007"]')])?.message).toBe('unexpected 0x07 at byte 3');
  });

  it('tells a document that ends too early from one that is wrong, at every place of it', () => {
    const document = Buffer.from('{"a":[true,-1.5e+3,"\\u00e9\\n€"],"b":{"c":null}}');
    for (let length = 0; length < document.length; length++) {
      expect(scanJson([document.subarray(0, length)])).toMatchObject({ fault: 'cut', offset: length });
    }
    expect(scanJson([document])).toBeUndefined();
  });

  it('takes bytes that are not UTF-8 in a string, and nowhere else', () => {
    expect(scanJson([Buffer.from('{"a":"b\xff"}', 'latin1')])).toBeUndefined();
    expect(scanJson([Buffer.from('{"a":\xff}', 'latin1')])).toMatchObject({ fault: 'syntax', offset: 5 });
    expect(scanJson([Buffer.from('["\\\xff"]', 'latin1')])).toMatchObject({ fault: 'syntax', offset: 3 });
    expect(scanJson([Buffer.from('{}\xe2\x82', 'latin1')])).toMatchObject({ fault: 'syntax', offset: 2 });
  });

  it('accepts 1,000 levels of nesting and rejects 1,001', () => {
    const nested = (levels: number) => Buffer.from('[{"a":'.repeat(levels / 2));
    const closed = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
    expect(scanJson([closed(1000)])).toBeUndefined();
    expect(scanJson([closed(1001)])).toMatchObject({ fault: 'nesting', offset: 1000 });
    expect(scanJson([nested(1000)])).toMatchObject({ fault: 'cut' });
    expect(scanJson([nested(1002)])).toMatchObject({ fault: 'nesting' });
  });

  it('counts how deep it is, not how many containers there were', () => {
    expect(scanJson([Buffer.from(`[${Array.from({ length: 3000 }, () => '[{}]').join(',')}]`)])).toBeUndefined();
  });

  it('tells its listener every value, with depth, offset and the name of a member', () => {
    const heard: unknown[] = [];
    const scanner = new JsonScanner((...value) => void heard.push(value));
    const [longest, longer] = ['x'.repeat(40), 'y'.repeat(41)];
    const document = `{"a":[1,"x",true],"\\u00e9":{"c":null,"":{"d":0}},"${longest}":1,"${longer}":2}`;
    for (const chunk of bytewise(Buffer.from(document))) scanner.write(chunk);
    scanner.end();
    expect(heard).toEqual([
      ['object', 0, 0, undefined],
      ['array', 1, 5, 'a'],
      ['number', 2, 6, undefined],
      ['string', 2, 8, undefined],
      ['true', 2, 12, undefined],
      ['object', 1, 27, 'é'],
      ['null', 2, 32, 'c'],
      ['object', 2, 40, ''],
      // Deeper than any listener asks for.
      ['number', 3, 45, ''],
      ['number', 1, 92, longest],
      ['number', 1, 138, `${longer.slice(0, 40)}…`],
    ]);
  });

  it('gives a sink the text of its string alone', () => {
    const heard: string[] = [];
    const sink: StringSink = {
      text: (bytes, start, end) => void heard.push(bytes.toString('utf8', start, end)),
      escape: (unit) => void heard.push(`<${unit.toString(16)}>`),
      end: () => void heard.push('|'),
    };
    const scanner = new JsonScanner((_type, _depth, _offset, name) => (name === 'b' ? undefined : sink));
    scanner.write(Buffer.from('{"a":"a\\nb","b":"not this","c":["c\\ud83d", 1],"":""}'));
    scanner.end();
    expect(heard.join('')).toBe('a<a>b|c<d83d>||');
  });
});
