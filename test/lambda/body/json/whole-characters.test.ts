import fc from 'fast-check';
import { validUntil, wholeCharacters } from '../../../../lambda/body/json/whole-characters';
import { anyCharacter } from '../../../support/any-character';
import { bytewise, decodes, split, splits } from '../../../support/json-documents';
import { rounds } from '../../../support/rounds';

/** Index of the first byte in the whole stream that begins no character; -1 for none. */
function firstInvalid(chunks: Buffer[]): number {
  let offset = 0;
  let rest = Buffer.alloc(0);
  for (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = wholeCharacters(bytes);
    const index = validUntil(whole, 0);
    if (index < whole.length) return offset + index;
    offset += whole.length;
    rest = bytes.subarray(whole.length);
  }
  return rest.length === 0 ? -1 : offset;
}

describe('UTF-8 in chunks', () => {
  it.each([
    ['an overlong slash', [0xc0, 0xaf]],
    ['an overlong character of three bytes', [0xe0, 0x9f, 0xbf]],
    ['an overlong character of four bytes', [0xf0, 0x8f, 0xbf, 0xbf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a character above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['a lead byte that UTF-8 has not', [0xf5, 0x80, 0x80, 0x80]],
    ['a continuation byte alone', [0x80]],
    ['a sequence that ASCII cuts', [0xe2, 0x82, 0x22]],
  ])('finds %s, however it is split', (_name, bytes) => {
    const stream = Buffer.from([0x41, ...bytes, 0x41]);
    expect(firstInvalid([stream])).toBe(1);
    expect(firstInvalid(bytewise(stream))).toBe(1);
  });

  it('agrees with the decoder of Node on any bytes under any split', () => {
    const near = fc.constantFrom(...Buffer.from('22417f808f909fa0bfc1c2e0e1edf0f4', 'hex'));
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
        expect(firstInvalid([stream]) === -1).toBe(decodes(stream));
        expect(firstInvalid(split(stream, at))).toBe(firstInvalid([stream]));
      }),
      rounds(3000),
    );
  });
});
