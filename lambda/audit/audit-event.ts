import { InvalidEventError, parseEventTime, quote } from '../event';

/** How far the clocks of the scheduler and of the function may differ, in milliseconds. */
const slackMs = 60_000;

/**
 * @param event as Lambda delivers it; nothing at all means `{}`
 * @param now whoever may invoke the function must not take the place of a later audit
 * @returns the time that names the audit; undefined: now
 * @throws InvalidEventError with every problem at once
 */
export function parseAuditEvent(event: unknown, now: Date): Date | undefined {
  const received = event ?? {};
  const isObject = typeof received === 'object' && !Array.isArray(received);
  const { scheduledTime, ...unknown }: Readonly<Record<string, unknown>> = isObject ? { ...received } : {};
  const problems = Object.keys(unknown).map(
    (name) => `event: received the unknown member ${quote(name)}, expected only scheduledTime`,
  );
  if (!isObject) problems.push(`event: received ${quote(received)}, expected an object`);
  const time = typeof scheduledTime === 'string' ? parseEventTime(scheduledTime) : undefined;
  if (scheduledTime !== undefined && time === undefined)
    problems.push(`scheduledTime: received ${quote(scheduledTime)}, expected a time such as 2026-11-20T06:30:00Z`);
  if (time !== undefined && time.getTime() > now.getTime() + slackMs)
    problems.push(`scheduledTime: received ${quote(scheduledTime)}, which is in the future`);
  if (problems.length > 0)
    throw new InvalidEventError(problems, 'nothing was audited', 'An empty event {} audits now.');
  return time;
}
