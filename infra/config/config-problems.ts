import type * as z from 'zod';

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** Where, as one would write it in JavaScript: `clusters[3].uid`; empty for the whole. */
  readonly path: string;
  /** What was found there, shortened; never a value that may be a secret. */
  readonly received: string;
  readonly expected: string;
}

/** All problems zod found, one per member. */
export function problemsOf(error: z.ZodError): ConfigProblem[] {
  return error.issues.flatMap((issue) => problemsOfIssue(issue, []));
}

/** What zod's own checks expect, in the words of the messages that the schema gives itself. */
export function expectedByDefault(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return (
        { object: 'an object', array: 'a list', string: 'text', record: 'an object' }[issue.expected as string] ??
        issue.expected
      );
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    default:
      return issue.message ?? issue.code;
  }
}

function problemsOfIssue(issue: z.core.$ZodIssue, parent: readonly PropertyKey[]): ConfigProblem[] {
  const path = [...parent, ...issue.path];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: tellPath([...path, key]),
      received: 'an unknown member',
      expected: issue.message,
    }));
  if (issue.code === 'invalid_union') return problemsOfUnion(issue, path);
  if (issue.code === 'invalid_key')
    return issue.issues.map(({ message }) => ({ path: tellPath(path), received: 'this name', expected: message }));
  return [{ path: tellPath(path), received: tellValue(issue.input), expected: issue.message }];
}

/** The problems of the alternative that was meant: the one whose type fits; all expectations if none does. */
function problemsOfUnion(issue: z.core.$ZodIssueInvalidUnion, path: readonly PropertyKey[]): ConfigProblem[] {
  const meant = issue.errors.find((issues) => !issues.some(isWrongType));
  if (meant !== undefined) return meant.flatMap((inner) => problemsOfIssue(inner, path));
  const expected = issue.errors.flatMap((issues) => issues.filter(isWrongType).map(({ message }) => message));
  return [{ path: tellPath(path), received: tellValue(issue.input), expected: [...new Set(expected)].join(' or ') }];
}

function isWrongType(issue: z.core.$ZodIssue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

/** A path as one would write it in JavaScript. */
export function tellPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`;
      const name = String(part);
      return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${shorten(JSON.stringify(name))}]`;
    })
    .join('')
    .replace(/^\./, '');
}

/** A value in few words: text shortened, credentials in an address left out, lists and objects by their kind. */
export function tellValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'string') return shorten(JSON.stringify(value.replace(/\/\/[^/]*@/, '//…@')));
  return String(value);
}

const longestTold = 60;

function shorten(text: string): string {
  return text.length <= longestTold ? text : `${text.slice(0, longestTold)}… (${text.length} characters)`;
}
