import { type JsonError, jsonErrorOf } from './json/json-chunk';
import { JsonScanner } from './json/json-scanner';
import { JsonStringDecoder } from './json/json-string-decoder';
import type { StringSink } from './json/json-string-scanner';
import { LogDigest, type LogText } from './log-digest';

/** Of `spec`. */
const textMember = 'log';

/**
 * Scans a log record for its text, the string `spec.log`, whatever its size.
 * @param begin called where the text begins, with the offset of its opening quote; what it returns takes the text
 */
function textScanner(begin: (quoteAt: number) => StringSink): JsonScanner {
  let section = '';
  return new JsonScanner((type, depth, offset, name = '') => {
    if (depth === 1) section = type === 'object' ? name : '';
    return depth === 2 && section === 'spec' && name === textMember && type === 'string' ? begin(offset) : undefined;
  });
}

/** Decodes the text of a log record to UTF-8. Bytes that are not UTF-8 stay as they are. */
export class LogTextDecoder {
  /** Whether the record has a log text. */
  found = false;
  readonly #decoder = new JsonStringDecoder();
  readonly #scanner = textScanner(() => {
    this.found = true;
    return this.#decoder;
  });

  /** Whether the text has half a surrogate pair, which UTF-8 cannot represent: the output leaves it out. */
  get isLossy(): boolean {
    return this.#decoder.loneSurrogate;
  }

  /**
   * The text of a record.
   * @throws JsonError, at its end, if the record is not JSON: it was checked before it was archived, so another program wrote it
   */
  async *decode(record: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
    let error: JsonError | undefined;
    for await (const chunk of record) {
      // What is behind it is read all the same: a record that is damaged ends with an error that says so.
      if (error !== undefined) continue;
      this.#decoder.beginChunk(chunk.length);
      error = jsonErrorOf(() => this.#scanner.write(chunk));
      if (error === undefined) yield this.#decoder.takeChunk();
    }
    if (error !== undefined) throw error;
    this.#scanner.end();
  }
}

/** Measures the text of a log record once more, as the collector did when it received it. */
export class LogTextCheck {
  readonly #scanner = textScanner((quoteAt) => {
    this.#digest = new LogDigest(quoteAt, this.#sink);
    return this.#digest;
  });
  readonly #sink: StringSink | undefined;
  #digest: LogDigest | undefined;
  #bytes = 0;
  #error: JsonError | undefined;

  /** @param sink gets the text too */
  constructor(sink?: StringSink) {
    this.#sink = sink;
  }

  write(chunk: Buffer): void {
    this.#error ??= jsonErrorOf(() => this.#scanner.write(chunk));
    this.#digest?.hash(chunk, this.#bytes);
    this.#bytes += chunk.length;
  }

  /** Call this once, after the last chunk. @returns nothing of a record that has no text, or is not JSON */
  end(): LogText {
    this.#error ??= jsonErrorOf(() => this.#scanner.end());
    return this.#error === undefined && this.#digest !== undefined ? this.#digest.result() : {};
  }
}
