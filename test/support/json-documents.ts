import fc from 'fast-check';
import { anyCharacter } from './any-character';

/** JSON documents as an adversary or a sloppy service would write them, for property tests. */

const whitespace = fc.constantFrom('', '', '', '', ' ', '\n', '\t ', '\r\n');

const number = fc.oneof(
  fc.constantFrom('0', '-0', '7', '-12', '1.5', '0.0', '1e9', '2E-3', '-12.250e+30', '1e400', '9007199254740993'),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);

/** One UTF-16 code unit as the escape `\uXXXX`, in either case. */
function escaped(unit: number, upper: boolean): string {
  const digits = unit.toString(16).padStart(4, '0');
  return `\\u${upper ? digits.toUpperCase() : digits}`;
}

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 12 }).map((text) => JSON.stringify(text).slice(1, -1)) },
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 4 }).map((t) => JSON.stringify(t).slice(1, -1)) },
  { weight: 2, arbitrary: fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t') },
  { weight: 2, arbitrary: fc.tuple(fc.nat(0xffff), fc.boolean()).map(([unit, upper]) => escaped(unit, upper)) },
  { weight: 1, arbitrary: fc.tuple(fc.integer({ min: 0xd800, max: 0xdfff }), fc.boolean()).map((e) => escaped(...e)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\\ud83d\\ude00', '\\uDBFF\\uDFFF', '\\ud83d', '\\ude00', '😀', 'ß', '日本'),
  },
);

/** The text of a JSON string with its quotes; its escapes may be lone surrogates. */
export const stringLiteral: fc.Arbitrary<string> = fc.array(piece, { maxLength: 6 }).map((p) => `"${p.join('')}"`);

/** A JSON string's text written in one of the many ways JSON allows. */
export function writtenAnyHow(text: string): fc.Arbitrary<string> {
  const ways = fc.array(fc.nat(5), { minLength: text.length, maxLength: text.length });
  return ways.map((choices) => {
    let out = '"';
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      const isHalf = unit >= 0xd800 && unit <= 0xdfff;
      const way = choices[i] ?? 0;
      // A pair is either written whole as it is or half by half as escapes.
      if (way === 0) out += escaped(unit, false);
      else if (way === 1) out += escaped(unit, true);
      else if (isHalf && text.codePointAt(i) !== unit) out += text.slice(i, ++i + 1);
      else if (isHalf) out += escaped(unit, false);
      else out += JSON.stringify(text.charAt(i)).slice(1, -1);
    }
    return `${out}"`;
  });
}

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    stringLiteral,
    number,
    fc.constantFrom('true', 'false', 'null', '{}', '[]'),
    fc
      .array(fc.tuple(whitespace, tie('value'), whitespace), { maxLength: 4 })
      .map((elements) => `[${elements.map((parts) => parts.join('')).join(',')}]`),
    fc
      .array(fc.tuple(whitespace, stringLiteral, whitespace, whitespace, tie('value'), whitespace), { maxLength: 4 })
      .map((all) => `{${all.map(([a, name, b, c, v, d]) => `${a}${name}${b}:${c}${v}${d}`).join(',')}}`),
  ),
}));

/** A well-formed JSON document. */
const jsonDocument: fc.Arbitrary<string> = fc.tuple(whitespace, value, whitespace).map((parts) => parts.join(''));

/** Bytes at which a careless scanner goes wrong. */
const criticalByte = fc.oneof(
  fc.constantFrom(...Buffer.from('"\\{}[]:,-+.0189eEutfnl /\n\t\u0000\u001f\u007f')),
  fc.constantFrom(0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff),
  fc.nat(255),
);

const mutation = fc.record({
  kind: fc.constantFrom('insert', 'replace', 'remove', 'truncate', 'repeat'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 8 }),
  byte: criticalByte,
});

/** A document with zero to three wounds. */
export const woundedDocument: fc.Arbitrary<Buffer> = fc
  .tuple(jsonDocument, fc.array(mutation, { maxLength: 3 }))
  .map(([document, mutations]) => {
    let bytes = Buffer.from(document);
    for (const { kind, at, length, byte } of mutations) {
      const i = Math.floor(at * bytes.length);
      const kept = kind === 'insert' || kind === 'repeat' ? i : kind === 'replace' ? i + 1 : i + length;
      const between =
        kind === 'insert' || kind === 'replace' ? [byte] : kind === 'repeat' ? bytes.subarray(i, i + length) : [];
      const rest = kind === 'truncate' ? [] : bytes.subarray(kept);
      bytes = Buffer.from([...bytes.subarray(0, i), ...between, ...rest]);
    }
    return bytes;
  });

/** Where a body is split, as fractions of its length. */
export const splits: fc.Arbitrary<readonly number[]> = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
  maxLength: 8,
});

/** The chunks that the splits make; empty chunks may be among them. */
export function split(bytes: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...at.map((fraction) => Math.floor(fraction * bytes.length)).sort((a, b) => a - b), bytes.length];
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

/** Each byte as a chunk of its own. */
export function bytewise(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
}

/** Whether the bytes are UTF-8: decoding replaces what is not, so that encoding again makes other bytes. */
export function decodes(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString('utf8')).equals(bytes);
}

/** The body's value as JSON.parse has it, with U+FFFD for bytes that are not UTF-8; undefined if it rejects the body. */
export function parsed(body: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(body.toString('utf8')) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
