/** What stands in a text where the key was. */
const hidden = '[the API key]';

/** Characters of the key's beginning that are taken for all of it: a quotation may be cut in the middle of the key. */
const recognised = 8;

/**
 * Hides the key in a text of the service: some services echo the request. The key is found as it is, in upper or lower
 * case, percent-encoded, and escaped as in JSON or HTML.
 * @param text that may quote the service. A key of few characters is hidden in words of ours too
 */
export function hideKey(text: string, key: string): string {
  if (known?.key !== key) known = { key, pattern: patternOf(key) };
  return text.replace(known.pattern, hidden);
}

/** The pattern of the key that was hidden last: to make it takes longer than to search the texts of an answer. */
let known: { readonly key: string; readonly pattern: RegExp } | undefined;

function patternOf(key: string): RegExp {
  const spellings = [...key].map(spellingsOf);
  const beginning = spellings.slice(0, recognised).join('');
  const rest = spellings.slice(recognised).reduceRight((behind, spelling) => `(?:${spelling}${behind})?`, '');
  // The whole key first: a spelling that may be one of its characters, or three, must not end the search too early.
  return new RegExp(`${spellings.join('')}|${beginning}${rest}`, 'gi');
}

/** What HTML calls the characters that have to be escaped in it. */
const htmlNames: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** A pattern for a character of the key, however it is spelt. */
function spellingsOf(character: string): string {
  const decimal = character.charCodeAt(0);
  const code = decimal.toString(16);
  const htmlName = htmlNames[character];
  const inHtml = `&(?:#0*${decimal}|#x0*${code}${htmlName === undefined ? '' : `|${htmlName}`});`;
  const plain = `\\u${code.padStart(4, '0')}`;
  return `(?:${inHtml}|%${code.padStart(2, '0')}|\\\\u${code.padStart(4, '0')}|\\\\${plain}|${plain})`;
}
