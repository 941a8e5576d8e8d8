/** What stands in a message where the key was. */
const hidden = '[the API key]';

/** Characters of the key that are taken for it: quoted text may be cut in its middle. */
const recognised = 8;

/**
 * Text without the key, wherever the service has put it there: a message quotes names, values and headers that the
 * service chooses, and one that echoes its request would have them hold the key.
 */
export function hideKey(text: string, key: string): string {
  // Quoted as JSON, a key may be spelt differently.
  const spellings = new Set([key, JSON.stringify(key).slice(1, -1)]);
  let shown = text;
  for (const spelling of spellings) shown = hideSpelling(shown, spelling);
  return shown;
}

function hideSpelling(text: string, spelling: string): string {
  const beginning = spelling.slice(0, recognised);
  let shown = '';
  let from = 0;
  for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, from)) {
    let length = beginning.length;
    while (length < spelling.length && text[at + length] === spelling[length]) length += 1;
    shown += text.slice(from, at) + hidden;
    from = at + length;
  }
  return shown + text.slice(from);
}
