/** A whole number, with one digit for each run of digits (RFC 8259, section 6). */
const number = /^-?\d(?:\.\d)?(?:[eE][+-]?\d)?$/;

/** Ends in a run of digits that may go on: behind a zero at the beginning no digit follows. */
const openDigits = /^(?!-?0$).*\d$/;

const literals = ['true', 'false', 'null'];

/**
 * The beginning of a number or literal with one more byte. Of each run of digits it has only the first: a number may have any
 * length.
 * @param read a minus, a digit or a letter, and what was read behind it
 * @returns undefined if the byte does not belong to it
 */
export function longerScalar(read: string, byte: number): string | undefined {
  if (byte >= 0x30 && byte <= 0x39 && openDigits.test(read)) return read;
  const text = read + String.fromCharCode(byte);
  // Every beginning of a number is whole, or would be with a digit behind it.
  const isNumber = number.test(text) || number.test(`${text}0`);
  return isNumber || literals.some((literal) => literal.startsWith(text)) ? text : undefined;
}

/** Whether it is a whole number or literal. More digits may follow. */
export function isWholeScalar(read: string): boolean {
  return number.test(read) || literals.includes(read);
}
