/** The bytes of white space, and of other characters that nobody sees, as UTF-8 writes them. */
const blankBytes = new Set(Buffer.from('\t\n\v\f\r \u0085\u00a0\u200b\u2028\u2029\u3000\ufeff'));

/**
 * Whether a byte shows nothing. An error behind such bytes is an error all the same, so they are skipped where content is
 * judged; what is stored keeps them. Bytes and not characters: it does not matter where the content is split.
 */
export function isBlank(byte: number): boolean {
  return blankBytes.has(byte);
}
