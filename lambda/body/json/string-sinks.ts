import { StringDecoder } from 'node:string_decoder';
import type { StringSink } from './json-string-scanner';

/** Keeps the text of one JSON string up to a limit, exactly as JSON.parse gives it, lone surrogates included. */
export class StringCapture implements StringSink {
  private readonly decoder = new StringDecoder('utf8');
  private captured = '';

  constructor(
    /** Longest text that is kept, in UTF-16 code units. */
    private readonly limit: number,
    private readonly whenEnded: (capture: StringCapture) => void = () => undefined,
  ) {}

  private get mostBytes(): number {
    return 4 * (this.limit + 2);
  }

  /** Whether the text is longer than the limit. */
  get tooLong(): boolean {
    return this.captured.length > this.limit;
  }

  /** The text, or its first part if it is too long. */
  get value(): string {
    return this.captured.slice(0, this.limit);
  }

  /** Makes the capture ready for another string. */
  clear(): void {
    this.captured = '';
    this.decoder.end();
  }

  text(bytes: Buffer, start: number, end: number): void {
    // Four bytes of UTF-8 give at least one code unit, so what is left out here is beyond the limit anyway.
    if (!this.tooLong)
      this.captured += this.decoder.write(bytes.subarray(start, Math.min(end, start + this.mostBytes)));
  }

  escape(unit: number): void {
    if (!this.tooLong) this.captured += String.fromCharCode(unit);
  }

  end(): void {
    this.whenEnded(this);
  }
}

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

/** How many names are kept: enough to recognise a service's error document by. */
const mostNames = 5;

/** The names of a refused object's members, as far as an error message shows them. */
export class MemberNames {
  private readonly names: string[] = [];
  private hasMore = false;

  add({ value, tooLong }: StringCapture): void {
    if (this.names.length === mostNames) this.hasMore = true;
    else this.names.push(JSON.stringify(value).slice(1, -1) + (tooLong ? '…' : ''));
  }

  /**
   * What kind of object it is, as part of a sentence.
   * @param quote applied to each name
   */
  describe(quote: (name: string) => string): string {
    if (this.names.length === 0) return 'an empty JSON object';
    return `a JSON object with members ${this.names.map(quote).join(', ')}${this.hasMore ? ', …' : ''}`;
  }
}
