import type { StringSink } from './json-string-scanner';

/** Counts what the text of one JSON string takes as UTF-8; a lone surrogate counts 3 bytes, as Buffer.byteLength has it. */
export class TextLength implements StringSink {
  private counted = 0;
  private afterHighSurrogate = false;

  get bytes(): number {
    return this.counted;
  }

  text(_bytes: Buffer, start: number, end: number): void {
    this.counted += end - start;
    this.afterHighSurrogate = false;
  }

  escape(unit: number): void {
    if (this.afterHighSurrogate && unit >= 0xdc00 && unit <= 0xdfff) {
      // The pair is one character of 4 bytes, of which its first half has counted 3.
      this.counted += 1;
      this.afterHighSurrogate = false;
      return;
    }
    this.counted += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    this.afterHighSurrogate = unit >= 0xd800 && unit <= 0xdbff;
  }

  end(): void {
    this.afterHighSurrogate = false;
  }
}
