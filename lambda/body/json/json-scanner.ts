import { JsonChunk, JsonError } from './json-chunk';
import { JsonNumberScanner } from './json-number-scanner';
import { JsonStringScanner, type StringSink } from './json-string-scanner';
import { Utf8Check } from './utf8-check';

export type JsonType = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null';

/** Follows a document while it is scanned. `depth` counts the containers around, `offset` the bytes before. */
export interface JsonListener {
  /** A member's name begins; the returned sink takes it. */
  name(depth: number, offset: number): StringSink | undefined;
  /** A value begins; the returned sink takes its text if it is a string. */
  value(type: JsonType, depth: number, offset: number): StringSink | undefined;
}

/** Deepest nesting of objects and arrays that is accepted; JSON.parse knows no limit, readers of the archive do. */
export const maxDepth = 1000;

const quote = 0x22;
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
 * Scans one JSON document (RFC 8259, strict UTF-8, no byte order mark) in chunks split anywhere, in memory that does not
 * grow with it. Accepts what JSON.parse accepts, up to {@link maxDepth}; nothing of the document is kept.
 */
export class JsonScanner {
  private readonly utf8 = new Utf8Check();
  private readonly string = new JsonStringScanner();
  private readonly number = new JsonNumberScanner();
  private readonly containers: ('object' | 'array')[] = [];
  private token: 'none' | 'name' | 'string' | 'number' | 'literal' = 'none';
  private expected: Expectation = 'value';
  /** What is still to come of `true`, `false` or `null`. */
  private literalRest = '';
  private received = 0;

  constructor(private readonly listener: JsonListener) {}

  /** @throws JsonError as soon as what was written is no beginning of a document; do not go on after it */
  write(bytes: Buffer): void {
    const chunk = new JsonChunk(bytes, this.received);
    const valid = this.utf8.write(bytes);
    let i = 0;
    while (i < valid) {
      i = this.token === 'none' ? this.scanStructure(chunk, i, valid) : this.scanToken(chunk, i, valid);
    }
    if (valid < bytes.length) {
      if (!this.string.inText) throw chunk.unexpected(valid);
      throw new JsonError('encoding', this.received + valid, 'invalid UTF-8');
    }
    this.received += bytes.length;
  }

  /** @throws JsonError if the document is not complete */
  end(): void {
    if (this.token === 'number' && this.number.complete) this.tokenEnded();
    if (this.expected !== 'nothing') throw new JsonError('cut', this.received, 'unexpected end');
  }

  private scanToken(chunk: JsonChunk, from: number, to: number): number {
    let i = from;
    switch (this.token) {
      case 'name':
      case 'string':
        i = this.string.scan(chunk, from, to);
        if (!this.string.open) this.tokenEnded();
        return i;
      case 'number':
        i = this.number.scan(chunk, from, to);
        if (i < to) this.tokenEnded();
        return i;
      default: {
        const rest = this.literalRest;
        let read = 0;
        for (; read < rest.length && i < to; read++, i++) {
          if (chunk.bytes[i] !== rest.charCodeAt(read)) throw chunk.unexpected(i);
        }
        this.literalRest = rest.slice(read);
        if (this.literalRest === '') this.tokenEnded();
        return i;
      }
    }
  }

  private tokenEnded(): void {
    this.expected = this.token === 'name' ? 'colon' : this.afterValue();
    this.token = 'none';
  }

  private afterValue(): Expectation {
    return this.containers.length === 0 ? 'nothing' : 'comma-or-end';
  }

  /** Reads what stands between names, strings, numbers and literals, up to where the next of them has begun. */
  private scanStructure(chunk: JsonChunk, from: number, to: number): number {
    let i = from;
    while (i < to && this.token === 'none') {
      const byte = chunk.bytes[i] as number;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) this.accept(chunk, i, byte);
      i++;
    }
    return i;
  }

  private accept(chunk: JsonChunk, i: number, byte: number): void {
    const { expected } = this;
    const inObject = this.containers.at(-1) === 'object';
    if (mayEnd.has(expected) && byte === (inObject ? closingBrace : closingBracket)) this.close();
    else if (expected === 'value' || expected === 'value-or-end') this.beginValue(chunk, i, byte);
    else if (expected === 'name' || expected === 'name-or-end') this.beginName(chunk, i, byte);
    else if (expected === 'colon' && byte === colon) this.expected = 'value';
    else if (expected === 'comma-or-end' && byte === comma) this.expected = inObject ? 'name' : 'value';
    else throw chunk.unexpected(i);
  }

  private beginName(chunk: JsonChunk, i: number, byte: number): void {
    if (byte !== quote) throw chunk.unexpected(i);
    this.token = 'name';
    this.string.begin(this.listener.name(this.containers.length, chunk.offset + i));
  }

  private beginValue(chunk: JsonChunk, i: number, byte: number): void {
    const type = typeByFirstByte[byte];
    if (type === undefined) throw chunk.unexpected(i);
    const depth = this.containers.length;
    if (depth === maxDepth && (type === 'object' || type === 'array')) {
      throw new JsonError('nesting', chunk.offset + i, `nesting deeper than ${maxDepth}`);
    }
    const sink = this.listener.value(type, depth, chunk.offset + i);
    if (type === 'string') {
      this.token = 'string';
      this.string.begin(sink);
    } else if (type === 'number') {
      this.token = 'number';
      this.number.begin(byte);
    } else if (type === 'object' || type === 'array') {
      this.containers.push(type);
      this.expected = type === 'object' ? 'name-or-end' : 'value-or-end';
    } else {
      this.token = 'literal';
      this.literalRest = type.slice(1);
    }
  }

  private close(): void {
    this.containers.pop();
    this.expected = this.afterValue();
  }
}
