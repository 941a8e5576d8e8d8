import { InvalidArgumentError } from 'commander';
import { RE2JS, RE2JSException } from 're2js';

export interface PatternOptions {
  /** The pattern is a text, not a regular expression. */
  readonly fixedStrings?: boolean;
  readonly ignoreCase?: boolean;
}

/** Whether a pattern matches anywhere in a line. */
export type LinePattern = (line: string) => boolean;

/** The characters that have a meaning in a regular expression. */
const syntax = /[\\^$.|?*+()[\]{}]/;

/**
 * RE2JS takes time in proportion to the line, whatever the pattern: JavaScript's own regular expressions can take time
 * that is exponential in the length of a line.
 * @throws InvalidArgumentError (of the argument parser) that says why the pattern is not accepted
 */
export function linePattern(pattern: string, { fixedStrings, ignoreCase }: PatternOptions): LinePattern {
  if (pattern.includes('\n')) throw new InvalidArgumentError('It has a line end; lines are searched one by one.');
  const isText = fixedStrings || !syntax.test(pattern);
  if (isText && !ignoreCase) return (line) => line.includes(pattern);
  if (isText) {
    // For a plain text, JavaScript's regular expression takes time in proportion to the line too, and half as much as
    // RE2JS.
    const expression = new RegExp(pattern.replaceAll(new RegExp(syntax, 'g'), '\\$&'), 'iu');
    return (line) => expression.test(line);
  }
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return (line) => compiled.test(line);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const expected = 'expected a regular expression in RE2 syntax, or -F for a text';
    throw new InvalidArgumentError(`${error.message}; ${expected}.`);
  }
}
