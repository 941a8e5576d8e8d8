import type { Continuation } from './continuation';
import { doubts, type Objection } from './doubts';

/** Longest part of a line that is read, in bytes: more than the patterns take. */
const mostOfLine = 200;

/** A line that is not indented and begins a document, or a member. Comments and items of lists do neither. */
const outermost = /\n(?:---(?=\s|$)|["']?([A-Za-z_@][\w@./-]{0,60})["']?:(?=\s|$)([^\r\n]{0,100}))/g;

/** A line that is indented, and is a member. */
const inner = /^( +)["']?([A-Za-z_@][\w@./-]{0,60})["']?:(?=\s|$)(.{0,60})/;

/** A member in flow style, such as those in `{continue: abc, b: 1}`. */
const inFlow = /[{,]\s*["']?(\w+)["']?\s*:([^,}]*)/g;

/**
 * Tells of YAML what `JsonContent` tells of JSON: whether it is a Status document, by which Kubernetes says that it
 * cannot serve a request, and whether it goes on. It does not parse: it looks at the outermost members of each document, and
 * one level deeper at those that a {@link Continuation} asks for. A quoted or embedded document is indented, and does not count.
 */
export class YamlMembers {
  readonly #continuation: Continuation;
  /** The last line as far as it was read, with the LF before it. */
  #rest = '\n';
  #documents = 0;
  #statuses = 0;
  /** Of the document that is being read. */
  #hasMembers = false;
  #hasVersion = false;
  #isStatus = false;
  /** The outermost member whose own members are being read, and how far they are indented. */
  #parent: string | undefined;
  #indent = 0;

  constructor(continuation: Continuation) {
    this.#continuation = continuation;
  }

  write(content: Buffer): void {
    // One character a byte: names are ASCII, and it does not matter where the content is split.
    const text = this.#rest + content.toString('latin1');
    const end = text.lastIndexOf('\n');
    this.#read(text.slice(0, end));
    this.#rest = text.slice(end, end + mostOfLine);
  }

  /** Call this once, after the last content. */
  end(): void {
    this.#read(this.#rest);
    this.#endDocument();
  }

  /** Call this after {@link end}. */
  get objection(): Objection {
    if (this.#statuses === 0) return {};
    return this.#documents === 1 ? { refusal: 'an error document: YAML of kind Status' } : { doubt: doubts.hasStatus };
  }

  /** @param text whole lines, each with the LF before it */
  #read(text: string): void {
    let at = 0;
    while (at < text.length) {
      if (this.#parent !== undefined) at = this.#readInner(text, at, this.#parent);
      outermost.lastIndex = at;
      const line = this.#parent === undefined ? outermost.exec(text) : null;
      if (line === null) return;
      at = outermost.lastIndex;
      const [, name, value = ''] = line;
      if (name === undefined) this.#endDocument();
      else this.#member(name, value);
      // Whatever else stands in the line.
      const next = text.indexOf('\n', at);
      at = next === -1 ? text.length : next;
    }
  }

  #member(name: string, given: string): void {
    const value = plainValue(given);
    this.#hasMembers = true;
    if (name === 'apiVersion') this.#hasVersion = value !== '';
    if (name === 'kind') this.#isStatus = value === 'Status';
    this.#continuation.text(undefined, name, value);
    if (value === '' && this.#continuation.readsInside(name)) {
      this.#parent = name;
      this.#indent = 0;
    }
    if (value.startsWith('{'))
      for (const [, inside = '', text = ''] of given.matchAll(inFlow))
        this.#continuation.text(name, inside, plainValue(text));
  }

  /** @returns where the first line begins that is not one of the parent; the end of the text if all are */
  #readInner(text: string, from: number, parent: string): number {
    let at = from;
    while (at < text.length) {
      const next = text.indexOf('\n', at + 1);
      const end = next === -1 ? text.length : next;
      const line = text.slice(at + 1, Math.min(end, at + mostOfLine));
      if (/^[^\s#]/.test(line)) {
        this.#parent = undefined;
        return at;
      }
      const [, indent = '', name = '', value = ''] = inner.exec(line) ?? [];
      if (this.#indent === 0) this.#indent = indent.length;
      if (indent.length === this.#indent && name !== '') this.#continuation.text(parent, name, plainValue(value));
      at = end;
    }
    return at;
  }

  #endDocument(): void {
    if (this.#hasMembers) this.#documents += 1;
    if (this.#isStatus && this.#hasVersion) this.#statuses += 1;
    this.#hasMembers = false;
    this.#hasVersion = false;
    this.#isStatus = false;
  }
}

/** A value without its quotes and the comment behind it; empty for one that is nothing. */
function plainValue(given: string): string {
  const value = given
    .replace(/(?:^|\s)#.*$/, '')
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2');
  return value === 'null' || value === '~' ? '' : value;
}
