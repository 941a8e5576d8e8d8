import fc from 'fast-check';

/** The halves of pairs, which are no characters. */
const [firstSurrogate, surrogates] = [0xd800, 0x800];

/**
 * Any code point, as `unit: 'binary'` of fast-check has it. That one makes a table of all of them for each worker, which
 * takes a second.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - surrogates })
  .map((code) => String.fromCodePoint(code < firstSurrogate ? code : code + surrogates));
