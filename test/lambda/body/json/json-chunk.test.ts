import fc from 'fast-check';
import { JsonChunk } from '../../../../lambda/body/json/json-chunk';
import { rounds } from '../../../support/rounds';

describe('JsonChunk.endOfText', () => {
  const ends = (byte: number) => byte < 0x20 || byte === 0x22 || byte === 0x5c;

  it('finds each of the 256 bytes, or passes over it, at every alignment and in every place of a word', () => {
    const memory = Buffer.from(new ArrayBuffer(32));
    const wrong: unknown[] = [];
    for (let byte = 0; byte < 256; byte++) {
      for (let shift = 0; shift < 4; shift++) {
        for (let at = 0; at < 12; at++) {
          const bytes = memory.subarray(shift, shift + 13).fill('a');
          bytes[at] = byte;
          const found = new JsonChunk(bytes, 0).endOfText(0, 13);
          if (found !== (ends(byte) ? at : 13)) wrong.push({ byte, shift, at, found });
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('finds the first of many, between any two places', () => {
    const byte = fc.oneof(
      fc.constantFrom(0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xa2, 0xdc),
      fc.nat(255),
    );
    const memory = fc.uint8Array({ maxLength: 40 }).chain((noise) =>
      fc.record({
        bytes: fc.array(byte, { maxLength: 40 }).map((middle) => Buffer.from([...noise, ...middle])),
        skip: fc.nat(noise.length),
        from: fc.nat(40),
        to: fc.nat(40),
      }),
    );
    fc.assert(
      fc.property(memory, ({ bytes, skip, from, to }) => {
        const chunk = bytes.subarray(skip);
        const end = Math.min(to, chunk.length);
        const begin = Math.min(from, end);
        const found = chunk.subarray(begin, end).findIndex(ends);
        expect(new JsonChunk(chunk, 0).endOfText(begin, end)).toBe(found === -1 ? end : begin + found);
      }),
      rounds(3000),
    );
  });
});
