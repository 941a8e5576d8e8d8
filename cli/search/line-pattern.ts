import { InvalidArgumentError } from 'commander';
import { RE2JS, RE2JSException } from 're2js';

export interface PatternOptions {
  /** The pattern is a text, not a regular expression. */
  readonly fixedStrings?: boolean;
  readonly ignoreCase?: boolean;
}

export interface LinePattern {
  /** Whether the pattern matches anywhere in a line. */
  readonly matches: (line: string) => boolean;
  /** The text that every line that matches contains; undefined if no such text is known. */
  readonly text: string | undefined;
}

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
  if (isText && !ignoreCase) return { text: pattern, matches: (line) => line.includes(pattern) };
  if (isText) {
    // For a plain text, JavaScript's regular expression takes time in proportion to the line too, and half as much as
    // RE2JS.
    const expression = new RegExp(pattern.replaceAll(new RegExp(syntax, 'g'), '\\$&'), 'iu');
    return { text: undefined, matches: (line) => expression.test(line) };
  }
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return { text: undefined, matches: (line) => compiled.test(line) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const expected = 'expected a regular expression in RE2 syntax, or -F for a text';
    throw new InvalidArgumentError(`${error.message}; ${expected}.`);
  }
}

/**
 * Whether the text of a JSON record may have a line that matches. Inside a JSON string, a character stands for itself or
 * is escaped: `\u` and four digits may stand for any, the short escapes for `"`, `\`, `/` and control characters.
 */
export function mayMatchRecord({ text }: LinePattern, record: Buffer): boolean {
  if (text === undefined || /["\\/\p{Cc}]/u.test(text)) return true;
  return record.includes(text) || record.includes('\\u');
}
