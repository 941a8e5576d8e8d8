/** Whether a value of the request matches a value of the policy. */
type Matches = (actual: string, expected: string) => boolean;

const equals: Matches = (actual, expected) => actual === expected;
const like: Matches = (actual, expected) => matchesWildcard(expected, actual);
const sameTruth: Matches = (actual, expected) => actual.toLowerCase() === expected.toLowerCase();

/** A negated operator holds if the value matches none of the policy's values. */
interface Operator {
  readonly matches: Matches;
  readonly negated: boolean;
}

/** What the stack's policies use or will use; IAM has more. */
const operators: ReadonlyMap<string, Operator> = new Map([
  ['StringEquals', { matches: equals, negated: false }],
  ['StringNotEquals', { matches: equals, negated: true }],
  ['StringLike', { matches: like, negated: false }],
  ['StringNotLike', { matches: like, negated: true }],
  // IAM treats Equals and Like of an ARN alike: both know wildcards.
  ['ArnEquals', { matches: matchesArn, negated: false }],
  ['ArnLike', { matches: matchesArn, negated: false }],
  ['ArnNotEquals', { matches: matchesArn, negated: true }],
  ['ArnNotLike', { matches: matchesArn, negated: true }],
  ['Bool', { matches: sameTruth, negated: false }],
]);

export function isConditionOperator(name: string): boolean {
  return name === 'Null' || operators.has(name);
}

/**
 * Whether one condition holds.
 * @param actual the request's value of the key; undefined if the request has none
 * @param expected the policy's values, at least one
 * @throws RangeError for an operator that {@link isConditionOperator} does not know
 */
export function conditionHolds(operator: string, actual: string | undefined, expected: readonly string[]): boolean {
  if (operator === 'Null') return expected.some((value) => (value.toLowerCase() === 'true') === (actual === undefined));
  const known = operators.get(operator);
  if (known === undefined) throw new RangeError(`Evaluating a policy failed: unknown condition operator ${operator}`);
  // A key that the request lacks matches nothing: a negated operator holds, any other does not.
  return (actual !== undefined && expected.some((value) => known.matches(actual, value))) !== known.negated;
}

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
