import { isUtf8 } from 'node:buffer';

/** Cuts a stream of UTF-8 where characters end, so that each piece of it can be checked on its own. */
export class WholeCharacters {
  #rest: Buffer = Buffer.alloc(0);

  /** The beginning of a character whose end is still to come. */
  get rest(): Buffer {
    return this.#rest;
  }

  /** @returns the rest of the chunk before and this chunk, but for a character that its end cuts */
  add(chunk: Buffer): Buffer {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.length - cutBytes(bytes);
    // Copied, because the caller may use the chunk again.
    this.#rest = Buffer.from(bytes.subarray(end));
    return end === bytes.length ? bytes : bytes.subarray(0, end);
  }
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

/** Length of the character at the end that is not whole; 0 if there is none. */
function cutBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const length = lengthOf(bytes[bytes.length - back] as number);
    if (length > 0) return length > back ? back : 0;
  }
  return 0;
}

/** Length of the character that a byte begins; 0 if it begins none. */
function lengthOf(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc2 || byte > 0xf4) return 0;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
