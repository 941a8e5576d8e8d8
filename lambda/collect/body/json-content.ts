import { type JsonError, jsonErrorOf } from '../../../archive/format/json/json-chunk';
import { JsonScanner, type JsonType } from '../../../archive/format/json/json-scanner';
import { StringCapture, type StringSink } from '../../../archive/format/json/json-string-scanner';
import type { Continuation } from './continuation';
import { doubts, type Objection } from './doubts';
import { ErrorMembers } from './error-members';

/** Longest `kind` that is read, in UTF-16 code units. */
const longestKind = 40;

/** Longest error document, in bytes. What is longer may hold a manifest. */
const longestErrorDocument = 4096;

/**
 * Follows the JSON value at the beginning of a text, and tells error documents from other objects. A manifest may well be a
 * JSON object: `kubectl get -o json` writes one.
 */
export class JsonContent {
  readonly #scanner = new JsonScanner(this.#beginValue.bind(this));
  readonly #takeString: () => StringSink | undefined;
  #root: JsonType | undefined;
  #hasEnded = false;
  #error: JsonError | undefined;
  readonly #members = new ErrorMembers();
  readonly #kind = new StringCapture(longestKind);
  readonly #continuation: Continuation | undefined;
  /** The member of the outermost object that is being read. */
  #parent: string | undefined;
  #bytes = 0;

  /**
   * @param takeString called if the value is a string; what it returns takes its text
   * @param continuation is shown the members of an object
   */
  constructor(takeString: () => StringSink | undefined = () => undefined, continuation?: Continuation) {
    this.#takeString = takeString;
    this.#continuation = continuation;
  }

  /** What the value is; undefined before its first byte. */
  get root(): JsonType | undefined {
    return this.#root;
  }

  /** Why the text is not one JSON value, as far as it was read. */
  get error(): JsonError | undefined {
    return this.#error;
  }

  write(content: Buffer): void {
    this.#bytes += content.length;
    if (this.#error !== undefined) return;
    this.#error = jsonErrorOf(() => this.#scanner.write(content));
  }

  /** Call this after the last content. */
  end(): void {
    this.#error ??= jsonErrorOf(() => this.#scanner.end());
    this.#hasEnded = true;
  }

  /** What the value is, as part of a sentence. */
  get description(): string {
    if (this.#root === 'object') return this.#members.description;
    return this.#root === 'array' || this.#root === 'number' ? `a JSON ${this.#root}` : `JSON ${this.#root}`;
  }

  /** Whether the content may be a whole manifest. */
  get objection(): Objection {
    const { error, sign, hasKind, isErrorDocument } = this.#members;
    const isWhole = this.#hasEnded && this.#scanner.complete;
    // Kubernetes answers a request that it cannot serve with an object of this kind.
    const isStatus = hasKind && this.#kind.value === 'Status';
    const isError = isStatus || (isErrorDocument && this.#bytes <= longestErrorDocument);
    if (isWhole && this.#root === 'object' && isError) return { refusal: `an error document: ${this.description}` };
    if (this.#error?.fault === 'cut' && this.#showsItsEnd) return { doubt: doubts.jsonCutShort };
    if (!isWhole) return {};
    // An object that says itself what it is may have any other member.
    const name = error ?? (isErrorDocument ? sign : undefined);
    return name === undefined || hasKind ? {} : { doubt: doubts.errorMember(name) };
  }

  #beginValue(type: JsonType, depth: number, _offset: number, name?: string): StringSink | undefined {
    if (depth === 0) {
      this.#root = type;
      return type === 'string' ? this.#takeString() : undefined;
    }
    if (depth > 2 || this.#root === 'array' || name === undefined) return undefined;
    if (depth === 2) return this.#continuation?.member(this.#parent, name, type);
    this.#parent = name;
    this.#members.add(name, type);
    return name === 'kind' && type === 'string' ? this.#kind : this.#continuation?.member(undefined, name, type);
  }

  /** Whether the value shows where it ends. Any text may begin like a number or a literal. */
  get #showsItsEnd(): boolean {
    return this.#root === 'object' || this.#root === 'array' || this.#root === 'string';
  }
}
