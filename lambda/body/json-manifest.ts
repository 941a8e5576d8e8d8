import { isBlank } from './blank';
import { InvalidBodyError, NotDecodableError, type Quote } from './body-check';
import { doubts } from './doubts';
import { JsonStringDecoder } from './json/json-string-decoder';
import { JsonContent } from './json-content';

/** Most whitespace at the beginning that is held back until the first other byte decides what is stored, in bytes. */
const mostHeld = 64 * 1024;

const nothing = Buffer.alloc(0);

/** Decodes a manifest that came under a JSON media type, by the rules of createManifestCheck. */
export class JsonManifest {
  readonly #asReceived: boolean;
  readonly #decoder = new JsonStringDecoder();
  readonly #json: JsonContent;
  /** Whether the body is stored as received. Open while there is only whitespace, which is stored unless a JSON string follows. */
  #isReceived: boolean;
  #held: Buffer[] = [];
  #bytes = 0;
  /** The first byte that shows something. */
  #first: number | undefined;

  constructor(asReceived: boolean, quote: Quote) {
    this.#json = new JsonContent(quote, () => (this.#isReceived ? undefined : this.#decoder));
    this.#asReceived = asReceived;
    this.#isReceived = asReceived;
  }

  /**
   * @returns the content to store that this chunk completes
   * @throws InvalidBodyError, NotDecodableError
   */
  write(chunk: Buffer): Buffer {
    this.#bytes += chunk.length;
    this.#first ??= chunk.find((byte) => !isBlank(byte));
    if (!this.#isReceived) this.#decoder.beginChunk(chunk.length);
    this.#json.write(chunk);
    this.#judge();
    if (this.#isReceived) return chunk;
    if (this.#json.root === 'string') return this.#decoder.takeChunk();
    // Copied, because the caller may use the chunk again.
    this.#held.push(Buffer.from(chunk));
    const isUndecided = this.#isJson && this.#json.root === undefined;
    if (isUndecided && this.#bytes <= mostHeld) return nothing;
    this.#isReceived = true;
    return Buffer.concat(this.#held.splice(0));
  }

  /** Why a body that is not JSON is perhaps no whole manifest: programs write NaN, single quotes or a comma too many. */
  get doubt(): string | undefined {
    const beginsLikeJson = this.#first !== undefined && '{["\''.includes(String.fromCharCode(this.#first));
    return !this.#isJson && beginsLikeJson ? doubts.notJson : undefined;
  }

  /**
   * Call this after the last chunk.
   * @throws InvalidBodyError, NotDecodableError
   */
  end(): void {
    const json = this.#json;
    // What is not JSON is judged by its content, and so is a body without any byte.
    if (!this.#isJson || this.#bytes === 0) return;
    if (json.root === undefined) throw new InvalidBodyError('The manifest is nothing but whitespace');
    json.end();
    this.#judge();
    if (json.root !== 'string') {
      throw new InvalidBodyError(`The manifest is no string: the body is ${json.description}`);
    }
    if (!this.#isReceived) {
      if (!this.#decoder.loneSurrogate) return;
      throw new InvalidBodyError('The manifest is no text: it has half a surrogate pair, which UTF-8 cannot represent');
    }
    throw new InvalidBodyError(
      this.#asReceived
        ? 'The manifest is a JSON string now but was not decodable before: the service answers differently each time'
        : `The manifest cannot be decoded: more than ${mostHeld} bytes of whitespace precede its JSON string`,
    );
  }

  get #isJson(): boolean {
    return this.#json.error === undefined;
  }

  /** Turns a fault of the JSON into what it means for the manifest. */
  #judge(): void {
    const { error, root } = this.#json;
    if (error === undefined) return;
    const { fault, message } = error;
    if (fault === 'cut') throw new InvalidBodyError(`The manifest is cut short: ${message}`, { cause: error });
    if (fault !== 'syntax') {
      throw new InvalidBodyError(`The manifest is no acceptable JSON: ${message}`, { cause: error });
    }
    if (root === 'string' && !this.#isReceived) {
      throw new NotDecodableError(`The manifest begins like a JSON string but is none: ${message}`, { cause: error });
    }
  }
}
