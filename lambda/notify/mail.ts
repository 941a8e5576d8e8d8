/** What the mails of failures and of audits have in common: what SNS takes of each. */
export interface Mail {
  /** Made by {@link subjectOf}. */
  readonly subject: string;
  readonly text: string;
  /** Whether it also goes to those who are woken up. */
  readonly pages?: boolean;
}

/** Longest subject that SNS takes, in characters. */
const mostSubject = 99;

/**
 * A subject as SNS takes it: ASCII, fewer than 100 characters.
 * @param text is cut, so that there is room for the end
 */
export function subjectOf(text: string, end: string): string {
  return `${text.replace(/[^\x20-\x7e]/g, '?').slice(0, mostSubject - end.length)}${end}`;
}
