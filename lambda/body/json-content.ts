import type { QuotingWords } from './body-check';
import { doubts } from './doubts';
import { ErrorMembers } from './error-members';
import { JsonError } from './json/json-chunk';
import { type JsonListener, JsonScanner, type JsonType } from './json/json-scanner';
import type { StringSink } from './json/json-string-scanner';
import { MemberNames, StringCapture } from './json/string-sinks';

/** Longest part of a member's name that is read and shown, in UTF-16 code units. */
const longestName = 40;

/**
 * Follows content as far as it is JSON, and tells error documents from other objects. A manifest may well be a JSON
 * object: `kubectl get -o json` writes one.
 */
export class JsonContent {
  readonly #first = new JsonValue();
  /** The JSON behind a JSON string: a service that fails half way may append an error. */
  #second: JsonValue | undefined;
  #isFollowedByText = false;

  write(content: Buffer): void {
    if (this.#second !== undefined) {
      this.#second.write(content);
      return;
    }
    const rest = this.#first.write(content);
    if (rest === undefined) return;
    this.#isFollowedByText = this.#first.showsItsEnd && /^[\w<"]/.test(rest.toString('latin1', 0, 1));
    if (this.#first.root !== 'string') return;
    this.#second = new JsonValue();
    this.#second.write(rest);
  }

  /** Call this after the last content. */
  end(): void {
    this.#first.end();
    this.#second?.end();
  }

  /** What the content is instead of a manifest, as part of a sentence; undefined if it may be one. */
  get refusal(): QuotingWords | undefined {
    return this.#first.errorDocument ?? this.#second?.errorDocument;
  }

  /** Why it is not certain that the content is a whole manifest. */
  get doubt(): string | undefined {
    if (this.#first.state === 'cut' || this.#second?.state === 'cut') return doubts.jsonCutShort;
    if (this.#second?.state === 'whole' || this.#isFollowedByText) return doubts.jsonFollowed;
    return this.#first.doubt;
  }
}

/** One JSON value at the beginning of a text. */
class JsonValue implements JsonListener {
  readonly #scanner = new JsonScanner(this);
  #received = 0;
  #state: 'open' | 'whole' | 'cut' | 'not JSON' = 'open';
  #root: JsonType | undefined;
  readonly #name = new StringCapture(longestName);
  readonly #names = new MemberNames();
  readonly #members = new ErrorMembers();
  readonly #kind = new StringCapture(longestName);

  /** `open` as long as more of the value may come; `cut` if it ends too early. */
  get state(): 'open' | 'whole' | 'cut' | 'not JSON' {
    return this.#state;
  }

  get root(): JsonType | undefined {
    return this.#root;
  }

  /** Whether the value shows where it ends. Any text may begin like a number or a literal. */
  get showsItsEnd(): boolean {
    return this.#root === 'object' || this.#root === 'array' || this.#root === 'string';
  }

  /** @returns what follows the value, beginning with its first byte; undefined if nothing does, or this is not JSON */
  write(bytes: Buffer): Buffer | undefined {
    if (this.#state !== 'open') return undefined;
    const before = this.#received;
    this.#received += bytes.length;
    const at = this.#scanned(() => this.#scanner.write(bytes));
    return at === undefined || !this.#scanner.complete ? undefined : bytes.subarray(at - before);
  }

  end(): void {
    if (this.#state === 'open') this.#scanned(() => this.#scanner.end());
    if (this.#state === 'open') this.#state = 'whole';
  }

  /** Describes the error document that this is, as part of a sentence; undefined if it is none. */
  get errorDocument(): QuotingWords | undefined {
    if (this.#state !== 'whole' || this.#root !== 'object') return undefined;
    // Kubernetes answers a request that it cannot serve with an object of this kind.
    const isStatus = this.#members.hasKind && this.#kind.value === 'Status';
    if (!isStatus && !this.#members.isErrorDocument) return undefined;
    return (quote) => `an error document: ${this.#names.describe(quote)}`;
  }

  /** Why it is not certain that this is no error; undefined if nothing speaks against it. */
  get doubt(): string | undefined {
    if (this.#state !== 'whole') return undefined;
    if (this.#root === 'array') return this.#members.isErrorDocument ? doubts.listOfErrors : undefined;
    // An object that says itself what it is may have any other member.
    const { error, hasKind } = this.#members;
    return error === undefined || hasKind ? undefined : doubts.errorMember(error);
  }

  name(depth: number): StringSink | undefined {
    if (depth !== this.#memberDepth) return undefined;
    this.#name.clear();
    return this.#name;
  }

  value(type: JsonType, depth: number): StringSink | undefined {
    if (depth === 0) this.#root = type;
    if (depth === 0 || depth !== this.#memberDepth) return undefined;
    const { value, tooLong } = this.#name;
    this.#names.add(this.#name);
    this.#members.add(tooLong ? `${value}…` : value, type);
    return value === 'kind' && type === 'string' ? this.#kind : undefined;
  }

  /** Members of the object, or of the objects in an array. */
  get #memberDepth(): number {
    return this.#root === 'array' ? 2 : 1;
  }

  /** @returns the offset in bytes at which the JSON ends and something else follows; undefined if nothing does */
  #scanned(scan: () => void): number | undefined {
    try {
      scan();
      return undefined;
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      if (this.#scanner.complete) this.#state = 'whole';
      else this.#state = error.fault === 'cut' && this.showsItsEnd ? 'cut' : 'not JSON';
      return error.offset;
    }
  }
}
