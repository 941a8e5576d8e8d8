/** What stands in a text where the key was. */
const hidden = '[the API key]';

/** Characters of the key's beginning that are taken for all of it: a quotation may be cut in the middle of the key. */
const recognised = 8;

/**
 * Hides the key in a text of the service: some services echo the request. The key is found as it is, in upper or lower
 * case, percent-encoded, and escaped as in JSON.
 * @param text what the service has chosen, without words of ours: a short key may occur in any of them
 */
export function hideKey(text: string, key: string): string {
  let shown = '';
  let from = 0;
  const begin = key.charAt(0).toLowerCase();
  for (let at = 0; at < text.length; ) {
    const first = text.charAt(at);
    const length = first === '%' || first === '\\' || first.toLowerCase() === begin ? keyLength(text, at, key) : 0;
    if (length === 0) {
      at += 1;
      continue;
    }
    shown += text.slice(from, at) + hidden;
    at += length;
    from = at;
  }
  return shown + text.slice(from);
}

/** Length of the key, or of its recognised beginning, in a text at an offset; 0 if it is not there. */
function keyLength(text: string, offset: number, key: string): number {
  // Where the characters so far may end: "%25" may be one character of the key, or three.
  let ends: readonly number[] = [offset];
  let found = 0;
  for (const character of key) {
    const next = new Set(ends.flatMap((at) => spellingEnds(text, at, character.toLowerCase())));
    if (next.size === 0) break;
    ends = [...next];
    found += 1;
  }
  return found >= Math.min(recognised, key.length) ? Math.max(...ends) - offset : 0;
}

/** Where one character of the key may end in a text, if it begins at an offset, however it is spelt. */
function spellingEnds(text: string, at: number, character: string): readonly number[] {
  const first = text[at];
  const ends: number[] = [];
  if (first === '%' && isCode(text.slice(at + 1, at + 3), character)) ends.push(at + 3);
  if (first === '\\' && text[at + 1] === 'u' && isCode(text.slice(at + 2, at + 6), character)) ends.push(at + 6);
  if (first === '\\' && text[at + 1] === character) ends.push(at + 2);
  if (first?.toLowerCase() === character) ends.push(at + 1);
  return ends;
}

function isCode(digits: string, character: string): boolean {
  return String.fromCharCode(Number.parseInt(digits, 16)).toLowerCase() === character;
}
