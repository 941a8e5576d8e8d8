import * as z from 'zod/mini';
import { clockSlackMs, hourMs } from '../archive/format/clocks';
import { readTime } from '../archive/format/object-metadata';
import { type ConfigProblem, parsing, problemLines, problemsOf } from '../archive/format/schema-problems';

/** The event is not one the function understands; nothing was read or written. */
export class InvalidEventError extends Error {
  override readonly name = 'InvalidEventError';

  /** @param undone what did not happen @param hint what an empty event does */
  constructor(
    problems: readonly ConfigProblem[],
    undone = 'nothing was collected',
    hint = 'An empty event {} collects everything.',
  ) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    const lines = problemLines(problems).map((line) => `- ${line}`);
    super([`Reading the event failed: ${count}; ${undone}.`, ...lines, hint].join('\n'));
  }
}

const isoForm = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/i;

/** A time as keys write it. */
const stampForm = /^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\d\.\d{3}Z)$/;

/**
 * A date, or a date and time, in ISO 8601 or as keys write it; UTC without a zone. Undefined for a text of another form.
 * @returns an invalid date if the calendar lacks it: 30 February must not name another run
 */
export function parseIsoTime(text: string): Date | undefined {
  const match = isoForm.exec(text.replace(stampForm, '$1-$2-$3:$4:$5'));
  if (match === null) return undefined;
  const [, date = '', time = '00:00', zone = 'Z'] = match;
  const isDay = readTime(`${date}T00:00:00.000Z`) !== undefined;
  return new Date(isDay ? `${date}T${time}${zone}`.toUpperCase() : Number.NaN);
}

/** Whether a time is further ahead than clocks differ: under the name of such a run objects would lie that nobody may delete. */
export function isInFuture(time: Date, now: Date, slackMs = clockSlackMs): boolean {
  return time.getTime() > now.getTime() + slackMs;
}

/** A schema of a time, in ISO 8601 or as keys write it, that is not in the future, nor older than some milliseconds. */
export const eventTime = (now: Date, expected: string, slackMs?: number, oldestMs = Number.POSITIVE_INFINITY) =>
  z.pipe(
    z.string(expected),
    z.transform((value: string, context) => {
      const parsed = parseIsoTime(value);
      const isTime = parsed !== undefined && !Number.isNaN(parsed.getTime());
      const isOld = isTime && parsed.getTime() < now.getTime() - oldestMs;
      if (isTime && !isOld && !isInFuture(parsed, now, slackMs)) return parsed;
      const kept = isOld ? `of the last ${oldestMs / hourMs} hours` : 'that is not in the future';
      const limit = `a time ${kept} (now it is ${now.toISOString()})`;
      const form = parsed === undefined ? expected : `${expected}; this time does not exist`;
      context.issues.push({ code: 'custom', message: isTime ? limit : form, input: value });
      return z.NEVER;
    }),
  );

/**
 * @param event as Lambda delivers it; nothing at all means `{}`
 * @param what what did not happen, and what an empty event does
 */
export function readEvent<Output>(
  schema: z.ZodMiniType<Output>,
  event: unknown,
  ...what: [undone?: string, hint?: string]
) {
  const { data, error } = schema.safeParse(event ?? {}, parsing);
  if (error !== undefined) throw new InvalidEventError(problemsOf(error), ...what);
  return data;
}
