import { JsonChunk } from '../../../../archive/format/json/json-chunk';

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

  it('passes over what ends text before the place where it begins, whatever follows in the same word', () => {
    const wrong: unknown[] = [];
    for (const before of [0x00, 0x1f, 0x22, 0x5c])
      for (let byte = 0; byte < 256; byte++)
        for (let from = 1; from < 8; from++)
          for (let at = from; at < 8; at++) {
            const bytes = Buffer.alloc(13, 'a').fill(before, 0, from);
            bytes[at] = byte;
            const found = new JsonChunk(bytes, 0).endOfText(from, 13);
            if (found !== (ends(byte) ? at : 13)) wrong.push({ before, byte, from, at, found });
          }
    expect(wrong).toEqual([]);
  });
});
