import { RE2JS } from 're2js';

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

/** What the stack's policies use. IAM has more: a policy that names one of those is refused by policy-document.ts. */
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
