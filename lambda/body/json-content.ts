import type { QuotingWords } from './body-check';
import { doubts } from './doubts';
import { ErrorMembers, longestNote } from './error-members';
import { JsonError } from './json/json-chunk';
import { type JsonListener, JsonScanner, type JsonType } from './json/json-scanner';
import type { StringSink } from './json/json-string-scanner';
import { MemberNames, StringCapture } from './json/string-sinks';

/** Longest part of a member's name that is read and shown, in UTF-16 code units. */
const longestName = 40;

/**
 * Follows the JSON value at the beginning of a text, and tells error documents from other objects. A manifest may well be a
 * JSON object: `kubectl get -o json` writes one.
 */
export class JsonContent implements JsonListener {
  readonly #scanner = new JsonScanner(this);
  #received = 0;
  /** `open` as long as more of the value may come; `cut` if it ends too early. */
  #state: 'open' | 'whole' | 'cut' | 'not JSON' = 'open';
  #root: JsonType | undefined;
  #isFollowed = false;
  readonly #name = new StringCapture(longestName);
  readonly #names = new MemberNames();
  readonly #members = new ErrorMembers();
  readonly #kind = new StringCapture(longestName);
  readonly #text = new StringCapture(longestNote + 1, ({ value }) => this.#members.addText(value));

  write(content: Buffer): void {
    if (this.#state !== 'open') return;
    const end = this.#scanned(() => this.#scanner.write(content));
    if (end !== undefined) this.#beginRest(content.toString('latin1', end - this.#received, end - this.#received + 1));
    this.#received += content.length;
  }

  /** Call this after the last content. */
  end(): void {
    if (this.#state === 'open') this.#scanned(() => this.#scanner.end());
    if (this.#state === 'open') this.#state = 'whole';
  }

  /** What the content is instead of a manifest, as part of a sentence; undefined if it may be one. */
  get refusal(): QuotingWords | undefined {
    if (this.#state !== 'whole' || this.#root !== 'object') return undefined;
    // Kubernetes answers a request that it cannot serve with an object of this kind.
    const isStatus = this.#members.hasKind && this.#kind.value === 'Status';
    if (!isStatus && this.#members.isErrorDocument !== 'certainly') return undefined;
    return (quote) => `an error document: ${this.#names.describe(quote)}`;
  }

  /** Why it is not certain that the content is a whole manifest. */
  get doubt(): string | undefined {
    if (this.#state === 'cut') return doubts.jsonCutShort;
    if (this.#isFollowed) return doubts.jsonFollowed;
    if (this.#state !== 'whole') return undefined;
    const { error, sign, hasKind, isErrorDocument } = this.#members;
    if (this.#root === 'array') return isErrorDocument && doubts.listOfErrors;
    // An object that says itself what it is may have any other member.
    const name = error ?? (isErrorDocument && sign);
    return name === undefined || hasKind ? undefined : doubts.errorMember(name);
  }

  name(depth: number): StringSink | undefined {
    if (depth > this.#memberDepth) this.#members.addInner();
    if (depth !== this.#memberDepth) return undefined;
    this.#name.clear();
    return this.#name;
  }

  value(type: JsonType, depth: number): StringSink | undefined {
    if (depth === 0) this.#root = type;
    if (depth === 0 || depth < this.#memberDepth) return undefined;
    if (depth === this.#memberDepth) this.#addMember(type);
    if (type !== 'string') return undefined;
    if (depth === this.#memberDepth && this.#name.value === 'kind') return this.#kind;
    if (!this.#members.weighsTexts) return undefined;
    this.#text.clear();
    return this.#text;
  }

  #addMember(type: JsonType): void {
    const { value, tooLong } = this.#name;
    this.#names.add(this.#name);
    this.#members.add(tooLong ? `${value}…` : value, type);
  }

  /** Members of the object, or of the objects in an array. */
  get #memberDepth(): number {
    return this.#root === 'array' ? 2 : 1;
  }

  /** Whether the value shows where it ends. Any text may begin like a number or a literal. */
  get #showsItsEnd(): boolean {
    return this.#root === 'object' || this.#root === 'array' || this.#root === 'string';
  }

  /** Looks at what follows the value: a service that fails half way may append an error. Objects may stand in a row. */
  #beginRest(character: string): void {
    this.#isFollowed = this.#showsItsEnd && (this.#root === 'string' ? /[\w<"{]/ : /[\w<"]/).test(character);
  }

  /** @returns the offset in bytes at which something follows the value; undefined if nothing does, or this is not JSON */
  #scanned(scan: () => void): number | undefined {
    try {
      scan();
      return undefined;
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      if (this.#scanner.complete) this.#state = 'whole';
      else this.#state = error.fault === 'cut' && this.#showsItsEnd ? 'cut' : 'not JSON';
      return this.#scanner.complete ? error.offset : undefined;
    }
  }
}
