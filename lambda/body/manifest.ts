import type { BodyFacts } from '../resources';
import type { BodyCheck, Quote } from './body-check';
import { JsonManifest } from './json-manifest';
import { ManifestContent } from './manifest-content';

/** How a manifest is received. */
export interface ManifestAnswer {
  /** The answer's Content-Type with its parameters; undefined if it has none. */
  readonly mediaType: string | undefined;
  /** Whether the body is to be kept as received although its media type is JSON, because decoding it has failed. */
  readonly asReceived: boolean;
}

/**
 * Checks a manifest (service contract, section 2.2: "a single string") and hands on the string itself.
 *
 * Under a JSON media type (`application/json`, `text/json`, `…+json`), a body that is one JSON string is decoded to UTF-8.
 * A body that is not JSON at all is kept as received, with a doubt if it begins like JSON. Other JSON is refused, and so is JSON that ends too early.
 * Under any other media type, or none, the body is kept as received: a media type alone proves nothing, because Express
 * says `text/html` of any string. The content itself is judged in all cases, see {@link ManifestContent}.
 *
 * `write` and `end` throw NotDecodableError for a body that begins like a JSON string but is none. The bytes handed on so
 * far are void then, and the body is to be requested again with `asReceived`.
 */
export function createManifestCheck(
  { mediaType, asReceived }: ManifestAnswer,
  quote: Quote = (text) => text,
): BodyCheck {
  const essence = (mediaType?.split(';', 1)[0] ?? '').trim().toLowerCase();
  const isJson = essence === 'application/json' || essence === 'text/json' || essence.endsWith('+json');
  const json = isJson ? new JsonManifest(asReceived, quote) : undefined;
  return new ManifestCheck(json, new ManifestContent(quote), !isJson || asReceived);
}

class ManifestCheck implements BodyCheck {
  constructor(
    readonly json: JsonManifest | undefined,
    readonly content: ManifestContent,
    readonly isAsReceived: boolean,
  ) {}

  write(chunk: Buffer): Buffer {
    const content = this.json === undefined ? chunk : this.json.write(chunk);
    this.content.write(content);
    return content;
  }

  end(): BodyFacts {
    this.json?.end();
    const doubt = [this.json?.doubt, ...this.content.end()].filter((one) => one !== undefined).join('; ');
    return doubt === '' ? {} : { doubt };
  }
}
