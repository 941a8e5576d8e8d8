import { matchesWildcard } from './wildcard';

/** Whether one value of the request matches one value of the policy. */
type Matcher = (actual: string, expected: string) => boolean;

const numeric =
  (compare: (actual: number, expected: number) => boolean): Matcher =>
  (actual, expected) =>
    compare(toNumber(actual), toNumber(expected));

const date =
  (compare: (actual: number, expected: number) => boolean): Matcher =>
  (actual, expected) =>
    compare(toTime(actual), toTime(expected));

const stringEquals: Matcher = (actual, expected) => actual === expected;
const ignoreCase: Matcher = (actual, expected) => actual.toLowerCase() === expected.toLowerCase();
const stringLike: Matcher = (actual, expected) => matchesWildcard(expected, actual);
const equal = (actual: number, expected: number): boolean => actual === expected;

/** By name without set prefix and `IfExists`. Those of `negated` hold if the value matches none of the policy's. */
const matchers: ReadonlyMap<string, { readonly matches: Matcher; readonly negated: boolean }> = new Map(
  Object.entries({
    StringEquals: positive(stringEquals),
    StringNotEquals: negated(stringEquals),
    StringEqualsIgnoreCase: positive(ignoreCase),
    StringNotEqualsIgnoreCase: negated(ignoreCase),
    StringLike: positive(stringLike),
    StringNotLike: negated(stringLike),
    // IAM treats the two pairs alike: both know wildcards.
    ArnEquals: positive(matchesArn),
    ArnLike: positive(matchesArn),
    ArnNotEquals: negated(matchesArn),
    ArnNotLike: negated(matchesArn),
    Bool: positive(ignoreCase),
    NumericEquals: positive(numeric(equal)),
    NumericNotEquals: negated(numeric(equal)),
    NumericLessThan: positive(numeric((a, b) => a < b)),
    NumericLessThanEquals: positive(numeric((a, b) => a <= b)),
    NumericGreaterThan: positive(numeric((a, b) => a > b)),
    NumericGreaterThanEquals: positive(numeric((a, b) => a >= b)),
    DateEquals: positive(date(equal)),
    DateNotEquals: negated(date(equal)),
    DateLessThan: positive(date((a, b) => a < b)),
    DateLessThanEquals: positive(date((a, b) => a <= b)),
    DateGreaterThan: positive(date((a, b) => a > b)),
    DateGreaterThanEquals: positive(date((a, b) => a >= b)),
  }),
);

const operatorForm = /^(?:(ForAnyValue|ForAllValues):)?([A-Za-z]+?)(IfExists)?$/;

/** Whether the operator, with its set prefix and suffix, is one whose meaning is known here. */
export function isConditionOperator(operator: string): boolean {
  if (operator === 'Null') return true;
  const name = operatorForm.exec(operator)?.[2];
  return name !== undefined && matchers.has(name);
}

/**
 * Whether one condition holds.
 * @param actual the request's values of the key; undefined if the request has none
 * @param expected the policy's values, at least one
 * @throws RangeError for an operator that {@link isConditionOperator} does not know
 */
export function conditionHolds(
  operator: string,
  actual: readonly string[] | undefined,
  expected: readonly string[],
): boolean {
  if (operator === 'Null') return expected.some((value) => (value.toLowerCase() === 'true') === (actual === undefined));
  const [, set, name = '', ifExists] = operatorForm.exec(operator) ?? [];
  const matcher = matchers.get(name);
  if (matcher === undefined) throw new RangeError(`Evaluating a policy failed: unknown condition operator ${operator}`);
  const { matches, negated } = matcher;
  const holds = (value: string): boolean => expected.some((wanted) => matches(value, wanted)) !== negated;
  if (set === 'ForAllValues') return (actual ?? []).every(holds);
  if (actual === undefined || actual.length === 0) {
    if (ifExists !== undefined) return true;
    // An absent key matches nothing: a negated operator holds, any other does not.
    return negated && set === undefined;
  }
  return actual.some(holds);
}

function positive(matches: Matcher): { matches: Matcher; negated: boolean } {
  return { matches, negated: false };
}

function negated(matches: Matcher): { matches: Matcher; negated: boolean } {
  return { matches, negated: true };
}

/** Each of the six parts of an ARN is matched on its own, so that an asterisk does not reach over a colon before the last. */
function matchesArn(actual: string, expected: string): boolean {
  const parts = arnParts(actual);
  const patterns = arnParts(expected);
  return parts.length === patterns.length && patterns.every((pattern, i) => matchesWildcard(pattern, parts[i] ?? ''));
}

function arnParts(arn: string): string[] {
  const parts = arn.split(':');
  return [...parts.slice(0, 5), parts.slice(5).join(':')];
}

function toNumber(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

/** ISO 8601 or seconds since 1970. */
function toTime(text: string): number {
  return /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text);
}
