/** A whole number, with one digit for each run of digits (RFC 8259, section 6). */
const number = /^-?\d(?:\.\d)?(?:[eE][+-]?\d)?$/;

/** Ends in a run of digits that may go on: behind a zero at the beginning no digit follows. */
const openDigits = /^(?!-?0$).*\d$/;

const literals = ['true', 'false', 'null'];

/** Reads the numbers and literals of a document one after the other, byte by byte. */
export class JsonScalar {
  /** What was read, of each run of digits only the first: a number may have any length. */
  #text = '';

  /** Whether the bytes so far are a whole number or literal. More digits may follow. */
  get isWhole(): boolean {
    return number.test(this.#text) || literals.includes(this.#text);
  }

  /** The first byte was read: a minus, a digit or a letter. */
  begin(byte: number): void {
    this.#text = String.fromCharCode(byte);
  }

  /** @returns whether the byte belongs to it */
  add(byte: number): boolean {
    if (byte >= 0x30 && byte <= 0x39 && openDigits.test(this.#text)) return true;
    const text = this.#text + String.fromCharCode(byte);
    // Every beginning of a number is whole, or would be with a digit behind it.
    const isBeginning = number.test(text) || number.test(`${text}0`);
    if (!isBeginning && !literals.some((literal) => literal.startsWith(text))) return false;
    this.#text = text;
    return true;
  }
}
