/** Whether a condition holds: the request's value of a key, undefined if it has none, and the policy's values, at least one. */
export type Operator = (actual: string | undefined, expected: readonly string[]) => boolean;

/** Holds if one of the policy's values matches. A key that the request lacks matches nothing. */
const oneMatches =
  (matches: (actual: string, expected: string) => boolean): Operator =>
  (actual, expected) =>
    actual !== undefined && expected.some((value) => matches(actual, value));

const stringEquals = oneMatches((actual, expected) => actual === expected);

/** IAM treats `Equals` and `Like` of an ARN alike: both know wildcards. */
const arnLike = oneMatches(matchesArn);

/** What the stack's policies use; IAM has more. */
export const conditionOperators = {
  StringEquals: stringEquals,
  StringNotEquals: (actual, expected) => !stringEquals(actual, expected),
  StringLike: oneMatches((actual, expected) => matchesWildcard(expected, actual)),
  ArnEquals: arnLike,
  ArnLike: arnLike,
  ArnNotEquals: (actual, expected) => !arnLike(actual, expected),
  Bool: oneMatches((actual, expected) => actual.toLowerCase() === expected.toLowerCase()),
  Null: (actual, expected) => expected.some((value) => (value.toLowerCase() === 'true') === (actual === undefined)),
} as const satisfies Record<string, Operator>;

/** Each of the six parts of an ARN is matched alone: an asterisk does not reach over a colon, except in the last part. */
function matchesArn(actual: string, expected: string): boolean {
  const parts = arnParts(actual);
  const patterns = arnParts(expected);
  return parts.length === patterns.length && patterns.every((pattern, i) => matchesWildcard(pattern, parts[i] ?? ''));
}

function arnParts(arn: string): string[] {
  const parts = arn.split(':');
  return [...parts.slice(0, 5), parts.slice(5).join(':')];
}

/** Whether a text matches a pattern: `*` is any number of characters, `?` is one. */
export function matchesWildcard(pattern: string, text: string): boolean {
  // Not a regular expression: a pattern such as `*a*a*a*b` would make one backtrack for minutes.
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p;
      mark = t;
      p += 1;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      mark += 1;
      p = star + 1;
      t = mark;
    } else return false;
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
}
