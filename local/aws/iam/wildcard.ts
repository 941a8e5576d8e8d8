/** Whether a text matches a policy's pattern: `*` is any number of characters, `?` is one. */
export function matchesWildcard(pattern: string, text: string): boolean {
  // Not a regular expression: a pattern such as `*a*a*a*b` would make one backtrack for minutes.
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
