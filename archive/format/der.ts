/** One element of DER (ITU-T X.690). Its bytes are those of the input, not copies. */
export interface DerElement {
  /** The identifier octet: class, constructed bit and number. Numbers above 30 do not occur in what is read here. */
  readonly tag: number;
  readonly content: Buffer;
  /** Identifier, length and content. */
  readonly whole: Buffer;
}

/** The bytes are not DER, or not of the form that was expected. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** `[n]` in ASN.1: context-specific and constructed. */
  context: (number: number) => 0xa0 + number,
} as const;

/** Takes elements one after the other. Every method @throws DerError */
export class DerReader {
  readonly #what: string;
  #left: Buffer;

  /**
   * @param bytes elements, and nothing else
   * @param what names the structure in errors
   */
  constructor(bytes: Buffer, what: string) {
    this.#left = bytes;
    this.#what = what;
  }

  get isAtEnd(): boolean {
    return this.#left.length === 0;
  }

  /** The next element, whatever it is. Lengths have to be definite, and in their shortest form. */
  next(): DerElement {
    const bytes = this.#left;
    const [tag, first] = bytes;
    if (tag === undefined || first === undefined) throw this.#error('it ends early');
    const octets = first < 0x80 ? 0 : first - 0x80;
    const start = 2 + octets;
    if (first === 0x80 || octets > 4 || start > bytes.length) throw this.#error('a length cannot be read');
    const length = octets === 0 ? first : bytes.readUIntBE(2, octets);
    if (octets > 0 && length < Math.max(0x80, 256 ** (octets - 1))) throw this.#error('a length is too long');
    const end = start + length;
    if (end > bytes.length) throw this.#error('it ends early');
    this.#left = bytes.subarray(end);
    return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(0, end) };
  }

  take(tag: number): DerElement {
    const element = this.next();
    if (element.tag !== tag) throw this.#error(`it has an element with the tag ${element.tag} in place of ${tag}`);
    return element;
  }

  /** The next element, if it has this tag. */
  optional(tag: number): DerElement | undefined {
    return this.#left[0] === tag ? this.next() : undefined;
  }

  /** The elements in the next one. */
  within(what: string, tag: number = derTag.sequence): DerReader {
    return new DerReader(this.take(tag).content, what);
  }

  /** The dotted name of the next element. */
  oid(): string {
    const numbers: number[] = [];
    let number = 0;
    for (const octet of this.take(derTag.oid).content) {
      number = number * 128 + (octet & 0x7f);
      if (octet >= 0x80) continue;
      numbers.push(number);
      number = 0;
    }
    const [first = 0, ...others] = numbers;
    const root = Math.min(2, Math.floor(first / 40));
    return [root, first - root * 40, ...others].join('.');
  }

  end(): void {
    if (!this.isAtEnd) throw this.#error('something follows its last element');
  }

  #error(problem: string): DerError {
    return new DerError(`${this.#what} cannot be read: ${problem}`);
  }
}
