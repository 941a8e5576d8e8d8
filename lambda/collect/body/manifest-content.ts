import type { BodyFacts } from '../../../archive/format/resources';
import { type BodyCheck, InvalidBodyError } from './body-check';
import { ContentBeginning } from './content-beginning';
import { Continuation } from './continuation';
import { doubts, type Objection } from './doubts';
import { JsonContent } from './json-content';
import { charsetOf, weighMediaType } from './media-type';
import { Utf8Check } from './utf8-check';
import { YamlMembers } from './yaml-members';

/** Charsets whose texts are UTF-8 as well. */
const utf8Names = /^(?:utf-?8|(?:us-)?ascii)$/;

/** Charsets in which no text reads like ASCII. */
const wideNames = /^(?:utf-?(?:7|16|32)|ucs-?[24]|iso-10646)/;

/** What a manifest's check is told of the answer, beside its content. */
export interface ManifestAnswer {
  /** The answer's Content-Type with its parameters; undefined if it has none. */
  readonly mediaType?: string | undefined;
  /** Whether its Content-Encoding names aws-chunked, which is a framing that should not be in the body. */
  readonly isAwsChunked?: boolean;
}

/**
 * Judges the content that is to be stored as a manifest. All that is known of a manifest is that it is a string. Refused is
 * content that is empty, an HTML page, or an error document in JSON or YAML. What is not certain becomes a doubt.
 */
export class ManifestContent implements BodyCheck {
  readonly isAsReceived = true;
  readonly #answer: ManifestAnswer;
  readonly #beginning = new ContentBeginning();
  readonly #continuation = new Continuation();
  readonly #json = new JsonContent(undefined, this.#continuation);
  readonly #yaml = new YamlMembers(this.#continuation);
  #isEmpty = true;
  #hasNul = false;
  readonly #utf8 = new Utf8Check();

  constructor(answer: ManifestAnswer = {}) {
    this.#answer = answer;
  }

  /** The first byte that shows something. */
  get first(): number | undefined {
    return this.#beginning.first;
  }

  write(content: Buffer): Buffer {
    this.#isEmpty &&= content.length === 0;
    this.#hasNul ||= content.includes(0);
    this.#utf8.write(content);
    // What stands behind blank bytes is judged as if it stood at the beginning, however many they are.
    const shown = this.#beginning.write(content);
    if (shown.length === 0) return content;
    this.#json.write(shown);
    if (!this.#looksLikeJson) this.#yaml.write(shown);
    return content;
  }

  /**
   * Call this once, after the last content.
   * @param doubt about how it came
   * @throws InvalidBodyError if the content is certainly not a manifest
   */
  end(doubt?: string): BodyFacts {
    const { isUtf8 } = this.#utf8;
    if (this.#isEmpty) throw new InvalidBodyError('The manifest is empty');
    if (this.first === undefined && isUtf8) throw new InvalidBodyError('The manifest is nothing but whitespace');
    this.#json.end();
    this.#yaml.end();
    const { mediaType, isAwsChunked } = this.#answer;
    const objections: readonly Objection[] = [
      { doubt },
      this.#beginning.weigh(mediaType),
      this.#beginning.weighFraming(isAwsChunked),
      this.#json.objection,
      this.#yaml.objection,
      weighMediaType(mediaType),
      { doubt: isUtf8 ? undefined : doubts.notUtf8 },
      { doubt: this.#hasNul ? doubts.nul : undefined },
      { doubt: this.#charsetDoubt },
      { doubt: this.#continuation.doubt },
    ];
    const refusal = objections.find((one) => one.refusal !== undefined)?.refusal;
    if (refusal !== undefined) throw new InvalidBodyError(`The manifest is ${refusal}`);
    const found = objections.flatMap((one) => one.doubt ?? []);
    return found.length === 0 ? {} : { doubt: found.join('; ') };
  }

  /** A JSON text may have the form of YAML, line by line. */
  get #looksLikeJson(): boolean {
    return this.first === 0x7b || this.first === 0x5b;
  }

  /** What is stored says that it is UTF-8: another charset matters where the bytes are not ASCII, or nothing reads like ASCII. */
  get #charsetDoubt(): string | undefined {
    const charset = charsetOf(this.#answer.mediaType);
    if (charset === undefined || utf8Names.test(charset)) return undefined;
    return this.#utf8.isAscii && !wideNames.test(charset) ? undefined : doubts.charset(charset);
  }
}
