import { RE2JS } from 're2js';

const compiled = new Map<string, RE2JS>();

/** Whether a text matches a pattern: `*` is any characters, `?` is one. No pattern takes long. */
export function matchesWildcard(pattern: string, text: string): boolean {
  let expression = compiled.get(pattern);
  if (expression === undefined) {
    const parts = pattern.split(/([*?])/).map((part) => (part === '*' ? '.*' : part === '?' ? '.' : RE2JS.quote(part)));
    expression = RE2JS.compile(parts.join(''), RE2JS.DOTALL);
    compiled.set(pattern, expression);
  }
  return expression.matches(text);
}
