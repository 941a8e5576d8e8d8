import { isBlank } from './blank';
import { InvalidBodyError, NotDecodableError } from './body-check';
import { doubts } from './doubts';
import { JsonError } from './json/json-chunk';
import { type JsonListener, JsonScanner, type JsonType } from './json/json-scanner';
import { JsonStringDecoder } from './json/json-string-decoder';
import type { StringSink } from './json/json-string-scanner';
import { MemberNames, StringCapture } from './json/string-sinks';

/** Most whitespace at the beginning that is held back until the first other byte decides what is stored, in bytes. */
const mostHeld = 64 * 1024;

/** Longest part of a member's name that an error message shows, in UTF-16 code units. */
const longestName = 40;

const nothing = Buffer.alloc(0);

/** Decodes a manifest that came under a JSON media type, by the rules of createManifestCheck. */
export class JsonManifest implements JsonListener {
  readonly #asReceived: boolean;
  /** Undefined once the body turns out not to be JSON. */
  #scanner: JsonScanner | undefined = new JsonScanner(this);
  readonly #decoder = new JsonStringDecoder();
  /** How the body is stored. Open while there is only whitespace, which is stored unless a JSON string follows. */
  #form: 'open' | 'decoded' | 'received' = 'open';
  #root: JsonType | undefined;
  readonly #memberName = new StringCapture(longestName);
  readonly #members = new MemberNames();
  #held: Buffer[] = [];
  #bytes = 0;
  /** The first byte that shows something. */
  #first: number | undefined;

  constructor(asReceived: boolean) {
    this.#asReceived = asReceived;
    if (asReceived) this.#form = 'received';
  }

  /**
   * @returns the content to store that this chunk completes
   * @throws InvalidBodyError, NotDecodableError
   */
  write(chunk: Buffer): Buffer {
    this.#bytes += chunk.length;
    this.#first ??= chunk.find((byte) => !isBlank(byte));
    if (this.#form !== 'received') this.#decoder.beginChunk(chunk.length);
    this.#judge(() => this.#scanner?.write(chunk));
    if (this.#form === 'received') return chunk;
    if (this.#form === 'decoded') return this.#decoder.takeChunk();
    // Copied, because the caller may use the chunk again.
    this.#held.push(Buffer.from(chunk));
    const undecided = this.#scanner !== undefined && this.#root === undefined;
    return undecided && this.#bytes <= mostHeld ? nothing : this.#release();
  }

  /** Why a body that is not JSON is perhaps no whole manifest: programs write NaN, single quotes or a comma too many. */
  get doubt(): string | undefined {
    const beginsLikeJson = this.#first !== undefined && '{["\''.includes(String.fromCharCode(this.#first));
    return this.#scanner === undefined && beginsLikeJson ? doubts.notJson : undefined;
  }

  /**
   * Call this after the last chunk.
   * @throws InvalidBodyError, NotDecodableError
   */
  end(): void {
    const scanner = this.#scanner;
    const root = this.#root;
    // What is not JSON is judged by its content, and so is a body without any byte.
    if (scanner === undefined || this.#bytes === 0) return;
    if (root === undefined) throw new InvalidBodyError('The manifest is nothing but whitespace');
    this.#judge(() => scanner.end());
    if (root !== 'string') {
      throw new InvalidBodyError((quote) => `The manifest is no string: the body is ${this.#found(root, quote)}`);
    }
    if (this.#form === 'decoded') {
      if (!this.#decoder.loneSurrogate) return;
      throw new InvalidBodyError('The manifest is no text: it has half a surrogate pair, which UTF-8 cannot represent');
    }
    throw new InvalidBodyError(
      this.#asReceived
        ? 'The manifest is a JSON string now but was not decodable before: the service answers differently each time'
        : `The manifest cannot be decoded: more than ${mostHeld} bytes of whitespace precede its JSON string`,
    );
  }

  name(depth: number): StringSink | undefined {
    if (depth !== 1) return undefined;
    this.#memberName.clear();
    return this.#memberName;
  }

  value(type: JsonType, depth: number): StringSink | undefined {
    if (depth === 1) this.#members.add(this.#memberName);
    if (depth > 0) return undefined;
    this.#root = type;
    if (type !== 'string' || this.#form !== 'open') return undefined;
    this.#form = 'decoded';
    return this.#decoder;
  }

  /** Scans, and turns a fault of the JSON into what it means for the manifest. */
  #judge(scan: () => void): void {
    try {
      scan();
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      const { fault, message } = error;
      if (fault === 'cut') throw new InvalidBodyError(`The manifest is cut short: ${message}`, { cause: error });
      if (fault !== 'syntax') {
        throw new InvalidBodyError(`The manifest is no acceptable JSON: ${message}`, { cause: error });
      }
      if (this.#form === 'decoded') {
        throw new NotDecodableError(`The manifest begins like a JSON string but is none: ${message}`, { cause: error });
      }
      this.#scanner = undefined;
    }
  }

  /** From here on, the body is stored as received. @returns what was held back */
  #release(): Buffer {
    this.#form = 'received';
    const content = this.#held.length === 1 ? this.#held[0] : Buffer.concat(this.#held);
    this.#held = [];
    return content ?? nothing;
  }

  #found(type: JsonType, quote: (name: string) => string): string {
    if (type === 'object') return this.#members.describe(quote);
    return type === 'array' || type === 'number' ? `a JSON ${type}` : `JSON ${type}`;
  }
}
