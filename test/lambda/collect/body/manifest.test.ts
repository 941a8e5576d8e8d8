import fc from 'fast-check';
import { InvalidBodyError, NotDecodableError } from '../../../../lambda/collect/body/body-check';
import { createManifestCheck } from '../../../../lambda/collect/body/manifest';
import { verdictOf, verdictOnManifest } from '../../../support/body-verdict';
import { bytewise, parsed, split, splits, woundedDocument, writtenAnyHow } from '../../../support/json-documents';
import { rounds } from '../../../support/rounds';

const jsonTypes = ['application/json', 'text/json', 'Application/JSON; charset=utf-8', 'application/vnd.fleet.v1+json'];

/** What becomes of a manifest: the content that is stored, or the error. */
type ManifestVerdict = Buffer | InvalidBodyError | NotDecodableError;

/** Checks a manifest; whether there is a doubt about it is not asked. */
function checkManifest(
  chunks: readonly Buffer[],
  mediaType: string | undefined = 'application/json',
  asReceived = false,
): ManifestVerdict {
  const verdict = verdictOf(createManifestCheck({ mediaType }, asReceived), chunks);
  if (verdict instanceof Error) return verdict;
  const { doubt, ...others } = verdict.facts;
  expect(others).toEqual({});
  return verdict.content;
}

/** The verdict on a body, which must not depend on where it is split. */
function judged(body: string | Buffer, mediaType?: string, asReceived = false): ManifestVerdict {
  const bytes = Buffer.from(body);
  const verdict = checkManifest([bytes], mediaType, asReceived);
  expect(checkManifest(bytewise(bytes), mediaType, asReceived)).toEqual(verdict);
  return verdict;
}

function stored(body: string | Buffer, mediaType?: string, asReceived = false): string {
  const verdict = judged(body, mediaType, asReceived);
  if (verdict instanceof Error) throw verdict;
  return verdict.toString('latin1');
}

function refused(body: string | Buffer, mediaType?: string, asReceived = false): string {
  const verdict = judged(body, mediaType, asReceived);
  expect(verdict).toBeInstanceOf(InvalidBodyError);
  return (verdict as InvalidBodyError).message;
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const yaml = 'apiVersion: v1\nkind: "Größe"\n';

/** Whether a text may be a manifest: chance also makes the beginning of an HTML page. */
function isManifest(text: string): boolean {
  return checkManifest([Buffer.from(text)], 'text/plain') instanceof Buffer;
}

describe('createManifestCheck under a JSON media type', () => {
  it.each(jsonTypes)('decodes one JSON string under %s', (mediaType) => {
    expect(stored(JSON.stringify(yaml), mediaType)).toBe(latin1(yaml));
  });

  it.each(['"\\ud83d"', '"\\ude00"', '"\\ud83dx\\ude00"'])('refuses %s, which no text can hold', (body) => {
    expect(refused(body)).toBe('The manifest is not text: it has half a surrogate pair, which UTF-8 cannot represent');
  });

  it.each([
    ['{"error":"not found","message":"x"}', 'a JSON object with members error, message'],
    ['{}', 'an empty JSON object'],
    ['{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}', 'a JSON object with members a, b, c, d, e, …'],
    [`{"${'x'.repeat(41)}":1}`, `a JSON object with members ${'x'.repeat(40)}…`],
    ['{"a\\n\\u001b":1}', 'a JSON object with members a\\n\\u001b'],
    ['["a"]', 'a JSON array'],
    [' 12 ', 'a JSON number'],
    ['null', 'JSON null'],
  ])('refuses %.40s, saying what came', (body, what) => {
    const message = `The manifest is not a string: the body is ${what}`;
    expect(refused(body)).toBe(message);
    expect(refused(body, 'application/json', true)).toBe(message);
  });

  it.each(['"a\\u00', '"ä', 'tru', '{"a":"b'])('refuses %s, which is cut short', (body) => {
    const message = `The manifest is cut short: unexpected end at byte ${Buffer.byteLength(body)}`;
    expect(refused(body)).toBe(message);
    expect(refused(body, 'application/json', true)).toBe(message);
  });

  it.each([
    '{"a":NaN}',
    "'a: 1'",
    '\n\ufeff\ufeff"a: 1"',
    '{"a":1}\n{"a":2}\n',
    '"a\nb"',
  ])('doubts %j, which begins like JSON and is not JSON', (body) => {
    const doubt = expect.stringContaining('it is declared as JSON and starts like JSON, but is not valid JSON');
    expect(verdictOnManifest(bytewise(Buffer.from(body)), 'application/json')).toMatchObject({ facts: { doubt } });
    expect(verdictOnManifest([Buffer.from(body)], 'text/plain')).not.toHaveProperty('facts.doubt', doubt);
  });

  it('decodes a JSON string behind a byte order mark, and keeps the mark of what is not JSON', () => {
    expect(stored('\ufeff"a"')).toBe('a');
    expect(stored('\ufeff \n"a"\n')).toBe('a');
    expect(stored('\ufeffa: 1')).toBe(latin1('\ufeffa: 1'));
    expect(refused('\ufeff{"a":1}')).toBe('The manifest is not a string: the body is a JSON object with members a');
    expect(refused('\ufeff')).toBe('The manifest is nothing but whitespace');
  });

  it('says why it cannot decode', () => {
    expect(judged('"a" : 1')).toMatchObject({
      message: 'The manifest begins like a JSON string but is not one: unexpected ":" at byte 4',
      cause: { fault: 'syntax', offset: 4 },
    });
  });

  it('refuses a JSON string that was not decodable the first time', () => {
    expect(refused('"a: 1"', 'application/json', true)).toBe(
      'The manifest is a JSON string now but was not decodable before: the service answers differently each time',
    );
  });

  it('keeps and doubts bytes of a JSON string that are not UTF-8', () => {
    const bytes = Buffer.from('"\\u00e4\xff\xe2\x82\\n"', 'latin1');
    const verdict = { content: Buffer.from('\xc3\xa4\xff\xe2\x82\n', 'latin1') };
    const doubt = 'it has bytes that are not UTF-8';
    for (const chunks of [[bytes], bytewise(bytes)])
      expect(verdictOnManifest(chunks, 'application/json')).toEqual({ ...verdict, facts: { doubt } });
  });

  it('refuses nesting deeper than 1,000', () => {
    expect(refused('['.repeat(1001))).toBe(
      'The manifest is not acceptable JSON: nesting deeper than 1000 at byte 1000',
    );
    expect(refused('['.repeat(1000) + ']'.repeat(1000))).toBe('The manifest is not a string: the body is a JSON array');
  });

  it('holds 64 KiB of leading whitespace back, and refuses more', () => {
    const check = createManifestCheck({ mediaType: 'application/json' });
    expect(check.write(Buffer.alloc(65_536, ' '))).toHaveLength(0);
    expect(() => check.write(Buffer.alloc(1, ' '))).toThrow('begins with more than 65536 bytes of whitespace');
  });

  it('stores any body decoded, as received, or not at all, as JSON.parse has it', () => {
    const verdicts = { decoded: 0, received: 0, refused: 0, again: 0 };
    const tried = rounds(5000);
    fc.assert(
      fc.property(fc.oneof(woundedDocument, fc.string().chain(writtenAnyHow).map(Buffer.from)), splits, (body, at) => {
        const json = parsed(body);
        const verdict = checkManifest(split(body, at));
        const received = checkManifest(split(body, at), 'application/json', true);
        if (json === undefined && verdict instanceof Buffer) {
          expect(verdict).toEqual(body);
          expect(received).toEqual(body);
          verdicts.received += 1;
        } else if (json === undefined && verdict instanceof NotDecodableError) {
          expect(received).toEqual(body);
          verdicts.again += 1;
        } else if (typeof json?.value === 'string' && isWellFormed(json.value) && isManifest(json.value)) {
          expect(String(verdict)).toBe(json.value);
          expect(received).toBeInstanceOf(InvalidBodyError);
          verdicts.decoded += 1;
        } else {
          expect(verdict).toBeInstanceOf(InvalidBodyError);
          expect(received).toBeInstanceOf(InvalidBodyError);
          verdicts.refused += 1;
        }
      }),
      tried,
    );
    // Each kind did come up; how often is up to chance (about 70 of the rarest).
    expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(tried.numRuns / 500);
  });
});

it('a manifest without any byte, and an HTML page, are refused under a JSON media type too', () => {
  for (const asReceived of [false, true]) {
    expect(refused('', 'application/json', asReceived)).toBe('The manifest is empty');
    expect(refused(' \n<HTML>', 'application/json', asReceived)).toContain('The manifest is an HTML page');
  }
  expect(refused('"\\u003c!docTYPE\\u0020html>"')).toContain('The manifest is an HTML page');
});

/** Whether a text is free of lone surrogates: encoding replaces them, so that decoding gives another text. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text;
}
