import { Transform } from 'node:stream';
import { JsonScanner, type JsonType } from '../../lambda/body/json/json-scanner';
import { JsonStringDecoder } from '../../lambda/body/json/json-string-decoder';
import type { StringSink } from '../../lambda/body/json/json-string-scanner';
import { StringCapture } from '../../lambda/body/json/string-sinks';

/** Longest member name that is compared: `spec`. */
const longestName = 4;

/** Decodes `spec.log`. Bytes that are not UTF-8 stay as they are: the check accepts them there. */
class LogDecoder extends JsonStringDecoder {
  invalidUtf8(): void {
    // They are text like any other.
  }
}

/** Finds the text of a log record, the string `spec.log`, and decodes it to UTF-8, whatever its size. */
export class LogTextDecoder {
  /** Whether the record has a log text. */
  found = false;
  readonly #memberName = new StringCapture(longestName);
  readonly #decoder = new LogDecoder();
  readonly #scanner = new JsonScanner({
    name: (depth) => this.#beginName(depth),
    value: (type, depth) => this.#beginValue(type, depth),
  });
  #section = '';

  /** Whether the text has half a surrogate pair, which UTF-8 cannot represent: the output leaves it out. */
  get isLossy(): boolean {
    return this.#decoder.loneSurrogate;
  }

  /**
   * @returns the text in this part of the record
   * @throws JsonError if the record is not JSON: it was checked before it was archived, so another program wrote it
   */
  write(chunk: Buffer): Buffer {
    this.#decoder.beginChunk(chunk.length);
    this.#scanner.write(chunk);
    return this.#decoder.takeChunk();
  }

  /** @throws JsonError if the record is not complete */
  end(): void {
    this.#scanner.end();
  }

  #beginName(depth: number): StringSink | undefined {
    if (depth > 2) return undefined;
    this.#memberName.clear();
    return this.#memberName;
  }

  #beginValue(type: JsonType, depth: number): StringSink | undefined {
    const name = this.#memberName.tooLong ? '' : this.#memberName.value;
    if (depth === 1) this.#section = type === 'object' ? name : '';
    if (depth !== 2 || this.#section !== 'spec' || name !== 'log' || type !== 'string') return undefined;
    this.found = true;
    return this.#decoder;
  }
}

/** A stream with a log record in, and its text out. Ends with a JsonError if the record is not JSON. */
export class LogText extends Transform {
  readonly #decoder = new LogTextDecoder();

  get found(): boolean {
    return this.#decoder.found;
  }

  get isLossy(): boolean {
    return this.#decoder.isLossy;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error, chunk?: Buffer) => void): void {
    try {
      done(undefined, this.#decoder.write(chunk));
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: (error?: Error) => void): void {
    try {
      this.#decoder.end();
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  }
}
