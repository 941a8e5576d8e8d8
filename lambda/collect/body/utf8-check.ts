import { isAscii, isUtf8 } from 'node:buffer';

/** Looks whether a body is UTF-8, in chunks split anywhere. What follows from it, `log-record.ts` and `manifest-content.ts` decide. */
export class Utf8Check {
  #isValid = true;
  #isAscii = true;
  /** The beginning of a character whose end is still to come. */
  #cut: Buffer = Buffer.alloc(0);

  write(chunk: Buffer): void {
    this.#isAscii &&= isAscii(chunk);
    if (!this.#isValid) return;
    const bytes = this.#cut.length === 0 ? chunk : Buffer.concat([this.#cut, chunk]);
    const end = bytes.length - cutBytes(bytes);
    this.#isValid = isUtf8(bytes.subarray(0, end));
    // Copied, because the caller may use the chunk again.
    this.#cut = Buffer.from(bytes.subarray(end));
  }

  /** Whether all bytes that were written are characters of ASCII. */
  get isAscii(): boolean {
    return this.#isAscii;
  }

  /** Whether all bytes that were written are whole characters of UTF-8. */
  get isUtf8(): boolean {
    return this.#isValid && this.#cut.length === 0;
  }
}

/** How many bytes at the end belong to a character that has not ended yet. */
function cutBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number;
    const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (byte >= 0xc0) return length > back ? back : 0;
  }
  return 0;
}
