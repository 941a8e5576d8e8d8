import { CronError, parseCron } from '../../lambda/schedule/cron';

const form = 'cron(minutes hours day-of-month month day-of-week year)';

/** What is wrong with a schedule's expression, as what was expected instead; undefined if nothing is. */
export function scheduleProblem(expression: string): string | undefined {
  if (/^\s*rate\(/i.test(expression)) return `${form}: rate() fires at deployment, before the API key is set`;
  if (/^\s*at\(/i.test(expression)) return `${form}: at() fires only once`;
  try {
    parseCron(expression);
    return undefined;
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    return error.field === 'expression' ? error.expected : `${error.expected} as its ${error.field}`;
  }
}
