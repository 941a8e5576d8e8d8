import { JsonStringDecoder } from '../../../archive/format/json/json-string-decoder';
import type { BodyFacts } from '../../../archive/format/resources';
import { type BodyCheck, InvalidBodyError, NotDecodableError } from './body-check';
import { doubts } from './doubts';
import { JsonContent } from './json-content';
import { type ManifestAnswer, ManifestContent } from './manifest-content';
import { essenceOf } from './media-type';

/** Most whitespace at the beginning, in bytes. It is held back until the first other byte decides what is stored. */
const mostHeld = 64 * 1024;

const nothing = Buffer.alloc(0);

/**
 * Checks a manifest (service contract, section 2.2: "a single string") and hands on the string itself.
 *
 * Under a JSON media type (`application/json`, `text/json`, `…+json`), a body that is one JSON string is decoded to UTF-8.
 * A body that is not JSON at all is kept as received, with a doubt if it begins like JSON. Other JSON is refused, and so is
 * JSON that ends too early.
 * Under any other media type, or none, the body is kept as received: `text/html` alone proves nothing, because Express
 * says it of any string. The content itself is judged in all cases, see {@link ManifestContent}.
 *
 * `write` and `end` throw NotDecodableError for a body that begins like a JSON string but is not one. The bytes handed on so
 * far are void then, and the body is to be requested again with `asReceived`.
 * @param asReceived whether the body is kept as received although its media type is JSON, because decoding it has failed
 */
export function createManifestCheck(answer: ManifestAnswer, asReceived = false): BodyCheck {
  const essence = essenceOf(answer.mediaType);
  const isJson = essence === 'application/json' || essence === 'text/json' || essence.endsWith('+json');
  return isJson ? new JsonManifest(answer, asReceived) : new ManifestContent(answer);
}

/** A manifest that came under a JSON media type. */
class JsonManifest implements BodyCheck {
  readonly isAsReceived: boolean;
  readonly #content: ManifestContent;
  readonly #decoder = new JsonStringDecoder();
  readonly #json = new JsonContent(() => (this.#isReceived ? undefined : this.#decoder));
  /** Whether the body is stored as received. Open while there is only whitespace, which is stored unless a JSON string follows. */
  #isReceived: boolean;
  #held: Buffer[] = [];
  #bytes = 0;

  constructor(answer: ManifestAnswer, asReceived: boolean) {
    this.#content = new ManifestContent(answer);
    this.isAsReceived = asReceived;
    this.#isReceived = asReceived;
  }

  write(chunk: Buffer): Buffer {
    this.#bytes += chunk.length;
    if (!this.#isReceived) this.#decoder.beginChunk(chunk.length);
    this.#json.write(chunk);
    this.#judge();
    return this.#content.write(this.#contentOf(chunk));
  }

  end(): BodyFacts {
    // What is not JSON is judged by its content, and so is a body without any byte.
    if (this.#isJson && this.#bytes > 0) this.#endJson();
    // Programs write NaN, single quotes or a comma too many.
    const beginsLikeJson = '{["\''.includes(String.fromCharCode(this.#content.first ?? 0));
    return this.#content.end(!this.#isJson && beginsLikeJson ? doubts.notJson : undefined);
  }

  /** The content to store that this chunk completes. */
  #contentOf(chunk: Buffer): Buffer {
    if (this.#isReceived) return chunk;
    if (this.#json.root === 'string') return this.#decoder.takeChunk();
    // Copied, because the caller may use the chunk again.
    this.#held.push(Buffer.from(chunk));
    const isUndecided = this.#isJson && this.#json.root === undefined;
    if (isUndecided && this.#bytes > mostHeld)
      throw new InvalidBodyError(`The manifest begins with more than ${mostHeld} bytes of whitespace`);
    if (isUndecided) return nothing;
    this.#isReceived = true;
    return Buffer.concat(this.#held.splice(0));
  }

  #endJson(): void {
    const json = this.#json;
    if (json.root === undefined) throw new InvalidBodyError('The manifest is nothing but whitespace');
    json.end();
    this.#judge();
    if (json.root !== 'string') {
      throw new InvalidBodyError(`The manifest is not a string: the body is ${json.description}`);
    }
    if (!this.#isReceived) {
      if (!this.#decoder.loneSurrogate) return;
      throw new InvalidBodyError(
        'The manifest is not text: it has half a surrogate pair, which UTF-8 cannot represent',
      );
    }
    throw new InvalidBodyError(
      'The manifest is a JSON string now but was not decodable before: the service answers differently each time',
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
      throw new InvalidBodyError(`The manifest is not acceptable JSON: ${message}`, { cause: error });
    }
    if (root === 'string' && !this.#isReceived) {
      throw new NotDecodableError(`The manifest begins like a JSON string but is not one: ${message}`, {
        cause: error,
      });
    }
  }
}
