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
