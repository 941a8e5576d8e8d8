import { JsonError } from '../body/json/json-chunk';
import type { StringSink } from '../body/json/json-string-scanner';
import { LogDigest, type LogText } from '../body/log-digest';
import { LogTextScanner } from './log-text';

/** Measures the text of a log record once more, as the collector did when it received it. */
export class LogTextCheck {
  readonly #scanner = new LogTextScanner((quoteAt) => {
    this.#digest = new LogDigest(quoteAt);
    return this.#sink === undefined ? this.#digest : new TwoSinks(this.#digest, this.#sink);
  });
  readonly #sink: StringSink | undefined;
  #digest: LogDigest | undefined;
  #bytes = 0;
  #isJson = true;

  /** @param sink gets the text too */
  constructor(sink?: StringSink) {
    this.#sink = sink;
  }

  write(chunk: Buffer): void {
    this.#scan(() => this.#scanner.write(chunk));
    this.#digest?.hash(chunk, this.#bytes);
    this.#bytes += chunk.length;
  }

  /** Call this once, after the last chunk. @returns nothing of a record that has no text, or is no JSON */
  end(): Partial<LogText> {
    this.#scan(() => this.#scanner.end());
    return this.#isJson && this.#digest !== undefined ? this.#digest.result() : {};
  }

  #scan(scan: () => void): void {
    if (!this.#isJson) return;
    try {
      scan();
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      this.#isJson = false;
    }
  }
}

/** Hands one text to two sinks. Both take bytes that are not UTF-8. */
class TwoSinks implements StringSink {
  constructor(
    readonly one: LogDigest,
    readonly other: StringSink,
  ) {}

  text(bytes: Buffer, start: number, end: number): void {
    this.one.text(bytes, start, end);
    this.other.text(bytes, start, end);
  }

  escape(unit: number): void {
    this.one.escape(unit);
    this.other.escape(unit);
  }

  invalidUtf8(): void {
    this.one.invalidUtf8();
  }

  end(offset: number): void {
    this.one.end(offset);
    this.other.end(offset);
  }
}
