const form = 'cron(minutes hours day-of-month month day-of-week year)';

/** What is wrong with a schedule's expression, as what was expected instead; undefined if nothing is. */
export function scheduleProblem(expression: string): string | undefined {
  if (/^\s*rate\(/i.test(expression)) return `${form}: rate() fires at deployment, before the API key is set`;
  if (/^\s*at\(/i.test(expression)) return `${form}: at() fires only once`;
  return /^cron\((\S+ ){5}\S+\)$/.test(expression) ? undefined : form;
}
