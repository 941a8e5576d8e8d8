import type { JsonChunk } from './json-chunk';

type Part = 'minus' | 'zero' | 'integer' | 'point' | 'fraction' | 'e' | 'sign' | 'exponent';
type ByteClass = '0' | '1-9' | '+' | '-' | '.' | 'e';

/** RFC 8259, section 6: what may follow each part of a number. */
const following: Record<Part, Partial<Record<ByteClass, Part>>> = {
  minus: { '0': 'zero', '1-9': 'integer' },
  zero: { '.': 'point', e: 'e' },
  integer: { '0': 'integer', '1-9': 'integer', '.': 'point', e: 'e' },
  point: { '0': 'fraction', '1-9': 'fraction' },
  fraction: { '0': 'fraction', '1-9': 'fraction', e: 'e' },
  e: { '0': 'exponent', '1-9': 'exponent', '+': 'sign', '-': 'sign' },
  sign: { '0': 'exponent', '1-9': 'exponent' },
  exponent: { '0': 'exponent', '1-9': 'exponent' },
};

const classOf: (ByteClass | undefined)[] = new Array(256);
for (const [byteClass, bytes] of Object.entries({
  '0': '0',
  '1-9': '123456789',
  '+': '+',
  '-': '-',
  '.': '.',
  e: 'eE',
})) {
  for (const byte of bytes) classOf[byte.charCodeAt(0)] = byteClass as ByteClass;
}

const lastParts: ReadonlySet<Part> = new Set<Part>(['zero', 'integer', 'fraction', 'exponent']);

/** Scans the numbers of a document one after the other. */
export class JsonNumberScanner {
  #part: Part = 'zero';

  /** Whether the bytes so far are a whole number. More digits may follow. */
  get complete(): boolean {
    return lastParts.has(this.#part);
  }

  /** The first byte was read: a minus or a digit. */
  begin(byte: number): void {
    const first = classOf[byte];
    this.#part = first === '-' ? 'minus' : first === '0' ? 'zero' : 'integer';
  }

  /**
   * @returns the index of the first byte after the number, or `to` if more of it may follow
   * @throws JsonError
   */
  scan(chunk: JsonChunk, from: number, to: number): number {
    for (let i = from; i < to; i += 1) {
      const byteClass = classOf[chunk.bytes[i] as number];
      const next = byteClass === undefined ? undefined : following[this.#part][byteClass];
      if (next === undefined) {
        if (!this.complete) throw chunk.unexpected(i);
        return i;
      }
      this.#part = next;
    }
    return to;
  }
}
