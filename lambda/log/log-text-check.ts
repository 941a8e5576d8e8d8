import { JsonError } from '../body/json/json-chunk';
import { LogDigest, type LogText } from '../body/log-digest';
import { LogTextScanner } from './log-text';

/** Measures the text of a log record once more, as the collector did when it received it. */
export class LogTextCheck {
  readonly #scanner = new LogTextScanner((quoteAt) => {
    this.#digest = new LogDigest(quoteAt);
    return this.#digest;
  });
  #digest: LogDigest | undefined;
  #bytes = 0;
  #isJson = true;

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
