import { Transform } from 'node:stream';
import { JsonScanner, type JsonType } from '../../lambda/body/json/json-scanner';
import { JsonStringDecoder } from '../../lambda/body/json/json-string-decoder';
import type { StringSink } from '../../lambda/body/json/json-string-scanner';
import { StringCapture } from '../../lambda/body/json/string-sinks';

/** Longest member name that matters: `spec`. */
const longestName = 4;

/** Decodes `spec.log`. Bytes that are not UTF-8 stay as they are: the check accepts them there. */
class LogDecoder extends JsonStringDecoder {
  invalidUtf8(): void {
    // They are text like any other.
  }
}

/**
 * Log record in, log text out: the string `spec.log` with its escapes decoded, whatever its size. Ends with a JsonError if
 * the record is not JSON: then it is not one that the collector has checked.
 */
export class LogText extends Transform {
  /** Whether the record has a log text. */
  found = false;
  readonly #memberName = new StringCapture(longestName);
  readonly #decoder = new LogDecoder();
  #section = '';
  readonly #scanner = new JsonScanner({
    name: (depth) => this.#beginName(depth),
    value: (type, depth) => this.#beginValue(type, depth),
  });

  /** Whether the output lacks half a surrogate pair of the text, which UTF-8 cannot represent. */
  get isLossy(): boolean {
    return this.#decoder.loneSurrogate;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error, chunk?: Buffer) => void): void {
    try {
      this.#decoder.beginChunk(chunk.length);
      this.#scanner.write(chunk);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(undefined, this.#decoder.takeChunk());
  }

  override _flush(done: (error?: Error) => void): void {
    try {
      this.#scanner.end();
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
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
