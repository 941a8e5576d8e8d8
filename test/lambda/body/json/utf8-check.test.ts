import fc from 'fast-check';
import { Utf8Check } from '../../../../lambda/body/json/utf8-check';
import { anyCharacter } from '../../../support/any-character';
import { bytewise, decodes, split, splits } from '../../../support/json-documents';
import { rounds } from '../../../support/rounds';

function isUtf8(chunks: Buffer[]): boolean {
  const check = new Utf8Check();
  return chunks.every((chunk) => check.write(chunk) === chunk.length) && check.complete;
}

/** Index of the first byte in the whole stream that cannot be UTF-8; -1 for none. */
function firstInvalid(chunks: Buffer[]): number {
  const check = new Utf8Check();
  let offset = 0;
  for (const chunk of chunks) {
    const index = check.write(chunk);
    if (index < chunk.length) return offset + index;
    offset += chunk.length;
  }
  return -1;
}

describe('Utf8Check', () => {
  it.each([
    ['an overlong slash', [0xc0, 0xaf], 0],
    ['an overlong character of three bytes', [0xe0, 0x9f, 0xbf], 1],
    ['an overlong character of four bytes', [0xf0, 0x8f, 0xbf, 0xbf], 1],
    ['a surrogate', [0xed, 0xa0, 0x80], 1],
    ['a character above U+10FFFF', [0xf4, 0x90, 0x80, 0x80], 1],
    ['a lead byte that UTF-8 has not', [0xf5, 0x80, 0x80, 0x80], 0],
    ['a continuation byte alone', [0x41, 0x80], 1],
    ['a sequence that ASCII cuts', [0xe2, 0x82, 0x22], 2],
  ])('rejects %s at the first wrong byte, however it is split', (_name, bytes, index) => {
    const stream = Buffer.from([0x41, ...bytes, 0x41]);
    expect(firstInvalid([stream])).toBe(index + 1);
    expect(firstInvalid(bytewise(stream))).toBe(index + 1);
  });

  it('agrees with the decoder of Node on any bytes under any split', () => {
    const near = fc.constantFrom(
      0x22,
      0x41,
      0x7f,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc1,
      0xc2,
      0xe0,
      0xe1,
      0xed,
      0xf0,
      0xf4,
    );
    const text = fc.string({ unit: anyCharacter, maxLength: 5 }).map((t) => [...Buffer.from(t)]);
    const bytes = fc
      .array(
        fc.oneof(
          text,
          near.map((byte) => [byte]),
        ),
        { maxLength: 8 },
      )
      .map((parts) => Buffer.from(parts.flat()));
    fc.assert(
      fc.property(bytes, splits, (stream, at) => {
        expect(isUtf8(split(stream, at))).toBe(decodes(stream));
        expect(firstInvalid(split(stream, at))).toBe(firstInvalid([stream]));
      }),
      rounds(3000),
    );
  });
});
