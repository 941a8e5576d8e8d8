import type { BodyFacts } from '../resources';

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
  for (let at = 0; at < text.length; ) {
    const length = keyLength(text, at, key);
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

/** What the service says of a body, without the key. */
export function withoutKey(facts: BodyFacts, key: string): BodyFacts {
  const entries = Object.entries(facts).map(([name, fact]) => [
    name,
    typeof fact === 'string' ? hideKey(fact, key) : fact,
  ]);
  return Object.fromEntries(entries);
}

/** Length of the key, or of its recognised beginning, in a text at an offset; 0 if it is not there. */
function keyLength(text: string, offset: number, key: string): number {
  let at = offset;
  let found = 0;
  for (const character of key) {
    const length = spellingLength(text, at, character.toLowerCase());
    if (length === 0) break;
    at += length;
    found += 1;
  }
  return found >= Math.min(recognised, key.length) ? at - offset : 0;
}

/** Length of one character of the key in a text at an offset, however it is spelt; 0 if it is not there. */
function spellingLength(text: string, at: number, character: string): number {
  const first = text[at];
  if (first === '%' && isCode(text.slice(at + 1, at + 3), character)) return 3;
  if (first === '\\' && text[at + 1] === 'u' && isCode(text.slice(at + 2, at + 6), character)) return 6;
  if (first === '\\' && text[at + 1] === character) return 2;
  return first?.toLowerCase() === character ? 1 : 0;
}

function isCode(digits: string, character: string): boolean {
  return String.fromCharCode(Number.parseInt(digits, 16)).toLowerCase() === character;
}
