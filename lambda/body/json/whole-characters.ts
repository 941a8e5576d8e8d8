import { isUtf8 } from 'node:buffer';

/** The bytes but for a character of UTF-8 that their end cuts, so that they can be checked on their own. */
export function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const length = lengthOf(bytes[bytes.length - back] as number);
    if (length > 0) return length > back ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}

/**
 * @param bytes whole characters
 * @returns the index, from `from` on, of the first byte that begins no character of UTF-8: nothing overlong, no surrogates,
 * nothing above U+10FFFF; the length if there is none
 */
export function validUntil(bytes: Buffer, from: number): number {
  // Some twenty times as fast as what follows. It reads all bytes even if the first is invalid, so it runs once.
  if (from === 0 && isUtf8(bytes)) return bytes.length;
  let i = from;
  while (i < bytes.length) {
    const length = lengthOf(bytes[i] as number);
    // Text in another encoding mostly fails without the call.
    const mayContinue = ((bytes[i + 1] ?? 0) & 0xc0) === 0x80;
    if (length === 0 || (length > 1 && !(mayContinue && isUtf8(bytes.subarray(i, i + length))))) return i;
    i += length;
  }
  return i;
}

/** Length of the character that a byte begins; 0 if it begins none. */
function lengthOf(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc2 || byte > 0xf4) return 0;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
