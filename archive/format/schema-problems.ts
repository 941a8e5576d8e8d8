import type * as z from 'zod/mini';
import { toDotPath } from 'zod/v4/core';

/** One thing that is wrong with the configuration, with a list of clusters, or with an event. */
export interface ConfigProblem {
  /** Where it is, as in JavaScript: `clusters[3].uid`; empty for the whole. */
  readonly path: string;
  /** What was found there, shortened. Never a value that may be a secret. */
  readonly received: string;
  readonly expected: string;
}

/** What is received where a schema does not know the member. */
export const unknownMember = 'an unknown member';

/** Most problems that a message lists: thousands of invalid uids would hide the others. */
export const mostProblems = 50;

/** A line for each problem: `clusters[3].uid: received "", expected a uid that is not empty`. */
export function problemLines(problems: readonly ConfigProblem[]): string[] {
  const lines = problems
    .slice(0, mostProblems)
    .map(
      ({ path, received, expected }) => `${path === '' ? '' : `${path}: `}received ${received}, expected ${expected}`,
    );
  const more = problems.length - lines.length;
  return more > 0 ? [...lines, `… and ${more} more`] : lines;
}

/** All problems that zod found, one per member. @param path where the value is that was parsed */
export function problemsOf(error: z.core.$ZodError, path: readonly PropertyKey[] = []): ConfigProblem[] {
  return error.issues.flatMap((issue) => problemsOfIssue(issue, path));
}

/** With what every schema of the configuration is parsed. */
export const parsing = { reportInput: true };

function problemsOfIssue(issue: z.core.$ZodIssue, parent: readonly PropertyKey[]): ConfigProblem[] {
  const path = [...parent, ...issue.path];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: formatPath([...path, key]),
      received: unknownMember,
      expected: issue.message,
    }));
  if (issue.code === 'custom' && issue.params?.problems) return issue.params.problems;
  if (issue.code === 'invalid_union') return problemsOfUnion(issue, path);
  if (issue.code === 'invalid_key')
    return issue.issues.map(({ message }) => ({ path: formatPath(path), received: 'this name', expected: message }));
  return [{ path: formatPath(path), received: describeValue(issue.input), expected: issue.message }];
}

/** The problems of the alternative that fits the value best. If it has the type of none, one problem that names them all. */
function problemsOfUnion(issue: z.core.$ZodIssueInvalidUnion, path: readonly PropertyKey[]): ConfigProblem[] {
  const fitting = issue.errors.filter((issues) => !issues.some(isWrongType));
  const [meant] = fitting.sort((a, b) => a.length - b.length);
  if (meant !== undefined) return meant.flatMap((inner) => problemsOfIssue(inner, path));
  const expected = issue.errors.flatMap((issues) => issues.filter(isWrongType).map(({ message }) => message));
  return [
    { path: formatPath(path), received: describeValue(issue.input), expected: [...new Set(expected)].join(' or ') },
  ];
}

function isWrongType(issue: z.core.$ZodIssue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

/** A path as in JavaScript. */
function formatPath(path: readonly PropertyKey[]): string {
  return toDotPath(path.map((part) => (typeof part === 'string' ? shorten(part) : part)));
}

/** A value in a few words: text is shortened and loses the credentials of a URL; of lists and objects only the kind is named. */
function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'string')
    return shorten(JSON.stringify(value.replace(/^(\s*(?:[\w+.-]+:|\/\/)[/\\]*).*@/s, '$1…@')));
  return String(value);
}

const longestShown = 60;

function shorten(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}… (${text.length} characters)`;
}
