import { JsonChunk, JsonError } from './json-chunk';
import { isWholeScalar, longerScalar } from './json-scalar';
import { quote, StringCapture, type StringSink, scanString } from './json-string-scanner';

export type JsonType = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null';

/**
 * Follows a document while it is scanned: called where a value begins.
 * @param depth number of containers around it
 * @param offset of its first byte
 * @param name of a member, at most 40 UTF-16 code units of it and then "…"; empty deeper than two containers; undefined for
 * a value that is not a member
 * @returns takes its text if it is a string
 */
export type JsonListener = (
  type: JsonType,
  depth: number,
  offset: number,
  name: string | undefined,
) => StringSink | undefined;

/** Longest name that is read, in UTF-16 code units, and how deep: no listener asks for more. */
const longestName = 40;
const deepestName = 2;

/** Deepest nesting of objects and arrays that is accepted. JSON.parse has no limit, but other readers of JSON have. */
const maxDepth = 1000;

/** RFC 8259, section 8.1: a reader may ignore it at the beginning of a document. */
const byteOrderMark = [0xef, 0xbb, 0xbf];

const comma = 0x2c;
const colon = 0x3a;
const closingBracket = 0x5d;
const closingBrace = 0x7d;

const typeByFirstByte: (JsonType | undefined)[] = new Array(256);
for (const [type, firsts] of Object.entries({
  object: '{',
  array: '[',
  string: '"',
  number: '-0123456789',
  true: 't',
  false: 'f',
  null: 'n',
})) {
  for (const first of firsts) typeByFirstByte[first.charCodeAt(0)] = type as JsonType;
}

type Expectation = 'value' | 'value-or-end' | 'name' | 'name-or-end' | 'colon' | 'comma-or-end' | 'nothing';

const mayEnd: ReadonlySet<Expectation> = new Set<Expectation>(['value-or-end', 'name-or-end', 'comma-or-end']);

/**
 * Scans one JSON document (RFC 8259) in chunks split anywhere, in memory that does not grow with it. Keeps nothing of it.
 * Accepts what JSON.parse accepts, with three differences: it ignores a byte order mark at the beginning, it refuses
 * nesting deeper than {@link maxDepth}, and strings may have bytes that are not UTF-8.
 */
export class JsonScanner {
  readonly #listener: JsonListener;
  readonly #name = new StringCapture(longestName);
  readonly #containers: ('object' | 'array')[] = [];
  #token: 'none' | 'string' | 'scalar' = 'none';
  /** Takes the text of the string. */
  #sink: StringSink | undefined;
  /** The number or literal, as far as it was read. */
  #scalar = '';
  #expected: Expectation = 'value';
  /** Bytes that were scanned. */
  #scanned = 0;
  /** Bytes behind them: the beginning of an escape whose end is still to come. */
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes of the byte order mark that were read. */
  #markBytes = 0;

  constructor(listener: JsonListener) {
    this.#listener = listener;
  }

  /** Whether a whole document was read; only whitespace may follow. A number or literal is complete only after {@link end}. */
  get complete(): boolean {
    return this.#expected === 'nothing';
  }

  /** @throws JsonError as soon as the bytes written cannot begin a document; do not go on after it */
  write(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const end = this.#scan(new JsonChunk(all, this.#scanned));
    this.#scanned += end;
    // Copied, because the caller may use the chunk again.
    this.#rest = Buffer.from(all.subarray(end));
  }

  /** @throws JsonError if the document is not complete */
  end(): void {
    if (this.#token === 'scalar' && isWholeScalar(this.#scalar)) this.#tokenEnded();
    if (this.#expected !== 'nothing') throw new JsonError('cut', this.#scanned + this.#rest.length, 'unexpected end');
  }

  /** @returns how far it came: to the end, or to an escape that the chunk cuts */
  #scan(chunk: JsonChunk): number {
    const to = chunk.bytes.length;
    let i = 0;
    while (i < to) {
      if (this.#token === 'none') i = this.#scanStructure(chunk, i, to);
      else if (this.#token === 'scalar') i = this.#scanScalar(chunk, i, to);
      else {
        i = scanString(chunk, i, to, this.#sink);
        if (i === to || chunk.bytes[i] !== quote) return i;
        this.#sink?.end?.(chunk.offset + i);
        this.#tokenEnded();
        i += 1;
      }
    }
    return i;
  }

  #scanScalar(chunk: JsonChunk, from: number, to: number): number {
    for (let i = from; i < to; i += 1) {
      const longer = longerScalar(this.#scalar, chunk.bytes[i] as number);
      if (longer === undefined) {
        if (!isWholeScalar(this.#scalar)) throw chunk.unexpected(i);
        this.#tokenEnded();
        return i;
      }
      this.#scalar = longer;
    }
    return to;
  }

  #tokenEnded(): void {
    const isName = this.#expected === 'name' || this.#expected === 'name-or-end';
    this.#expected = isName ? 'colon' : this.#afterValue();
    this.#token = 'none';
  }

  #afterValue(): Expectation {
    return this.#containers.length === 0 ? 'nothing' : 'comma-or-end';
  }

  /** Scans whitespace and punctuation, up to and including the first byte of the next name or value. */
  #scanStructure(chunk: JsonChunk, from: number, to: number): number {
    let i = from;
    while (i < to && this.#token === 'none') {
      const byte = chunk.bytes[i] as number;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) this.#accept(chunk, i, byte);
      i += 1;
    }
    return i;
  }

  #accept(chunk: JsonChunk, i: number, byte: number): void {
    const expected = this.#expected;
    const inObject = this.#containers.at(-1) === 'object';
    if (mayEnd.has(expected) && byte === (inObject ? closingBrace : closingBracket)) this.#close();
    else if (expected === 'value' || expected === 'value-or-end') this.#beginValue(chunk, i, byte);
    else if (expected === 'name' || expected === 'name-or-end') this.#beginName(chunk, i, byte);
    else if (expected === 'colon' && byte === colon) this.#expected = 'value';
    else if (expected === 'comma-or-end' && byte === comma) this.#expected = inObject ? 'name' : 'value';
    else throw chunk.unexpected(i);
  }

  #beginName(chunk: JsonChunk, i: number, byte: number): void {
    if (byte !== quote) throw chunk.unexpected(i);
    this.#token = 'string';
    this.#name.clear();
    this.#sink = this.#containers.length <= deepestName ? this.#name : undefined;
  }

  #beginValue(chunk: JsonChunk, i: number, byte: number): void {
    const type = typeByFirstByte[byte];
    if (byteOrderMark[this.#markBytes] === byte && chunk.offset + i === this.#markBytes) {
      this.#markBytes += 1;
      return;
    }
    if (type === undefined || this.#markBytes % byteOrderMark.length > 0) throw chunk.unexpected(i);
    const depth = this.#containers.length;
    if (depth === maxDepth && (type === 'object' || type === 'array')) {
      throw new JsonError('nesting', chunk.offset + i, `nesting deeper than ${maxDepth}`);
    }
    const name = this.#containers.at(-1) === 'object' ? this.#name.shown : undefined;
    this.#sink = this.#listener(type, depth, chunk.offset + i, name);
    if (type === 'string') this.#token = 'string';
    else if (type === 'object' || type === 'array') {
      this.#containers.push(type);
      this.#expected = type === 'object' ? 'name-or-end' : 'value-or-end';
    } else {
      this.#token = 'scalar';
      this.#scalar = String.fromCharCode(byte);
    }
  }

  #close(): void {
    this.#containers.pop();
    this.#expected = this.#afterValue();
  }
}
