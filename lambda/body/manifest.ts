import type { BodyFacts } from '../resources';
import { type BodyCheck, InvalidBodyError } from './body-check';
import { HtmlPageDetector, isHtmlMediaType } from './html-page';
import { JsonManifest } from './json-manifest';

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
 * Under a JSON media type (`application/json`, `text/json`, `…+json`) a body that is one JSON string is decoded to UTF-8;
 * a body that is no JSON at all is kept as received; any other JSON, or JSON that ends too early, is refused. Under any
 * other media type, or none, the body is kept as received. A zero-length manifest and an HTML page are refused always.
 *
 * A body that begins like a JSON string but is none makes `write` or `end` throw NotDecodableError: what was handed on is
 * void, and the body is to be read again with `asReceived`.
 */
export function createManifestCheck({ mediaType, asReceived }: ManifestAnswer): BodyCheck {
  const essence = (mediaType?.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (isHtmlMediaType(essence)) return new HtmlManifest(essence);
  const isJson = essence === 'application/json' || essence === 'text/json' || essence.endsWith('+json');
  return new StoredManifest(isJson ? new JsonManifest(asReceived) : new ReceivedManifest());
}

/** Checks the content that is to be stored, whatever it was decoded from. */
class StoredManifest implements BodyCheck {
  private readonly html = new HtmlPageDetector();
  private bytes = 0;

  constructor(private readonly body: BodyCheck) {}

  write(chunk: Buffer): Buffer {
    const content = this.body.write(chunk);
    this.bytes += content.length;
    this.html.write(content);
    return content;
  }

  end(): BodyFacts {
    const facts = this.body.end();
    // Only now: a body that turns out not to be decodable is judged by what is stored in the end.
    if (this.bytes === 0) throw new InvalidBodyError('The manifest is empty');
    if (this.html.found) throw new InvalidBodyError('The manifest is an HTML page');
    return facts;
  }
}

class ReceivedManifest implements BodyCheck {
  write(chunk: Buffer): Buffer {
    return chunk;
  }

  end(): BodyFacts {
    return {};
  }
}

class HtmlManifest implements BodyCheck {
  private bytes = 0;

  constructor(private readonly mediaType: string) {}

  write(chunk: Buffer): Buffer {
    this.bytes += chunk.length;
    if (this.bytes === 0) return chunk;
    throw new InvalidBodyError(`The manifest is an HTML page: its media type is ${this.mediaType}`);
  }

  end(): BodyFacts {
    throw new InvalidBodyError('The manifest is empty');
  }
}
