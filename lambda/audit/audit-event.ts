import { parseEventTime, quote } from '../event';

/** The event is not one the audit understands; nothing was read or written. */
export class InvalidAuditEventError extends Error {
  override readonly name = 'InvalidAuditEventError';

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    const list = problems.map((problem) => `- ${problem}`).join('\n');
    super(`Reading the event failed: ${count}; nothing was audited.\n${list}\nAn empty event {} audits now.`);
  }
}

/** How far the clocks of the scheduler and of the function may differ, in milliseconds. */
const slackMs = 60_000;

/**
 * @param event as Lambda delivers it; nothing at all means `{}`
 * @param now whoever may invoke the function must not take the place of a later audit
 * @returns the time that names the audit; undefined: now
 * @throws InvalidAuditEventError with every problem at once
 */
export function parseAuditEvent(event: unknown, now: Date): Date | undefined {
  const received = event ?? {};
  if (typeof received !== 'object' || Array.isArray(received))
    throw new InvalidAuditEventError([`event: received ${quote(received)}, expected an object`]);
  const { scheduledTime, ...unknown } = received as Readonly<Record<string, unknown>>;
  const problems = Object.keys(unknown).map(
    (name) => `event: received the unknown member ${quote(name)}, expected only scheduledTime`,
  );
  const time = typeof scheduledTime === 'string' ? parseEventTime(scheduledTime) : undefined;
  if (scheduledTime !== undefined && time === undefined)
    problems.push(`scheduledTime: received ${quote(scheduledTime)}, expected a time such as 2026-11-20T06:30:00Z`);
  if (time !== undefined && time.getTime() > now.getTime() + slackMs)
    problems.push(`scheduledTime: received ${quote(scheduledTime)}, which is in the future`);
  if (problems.length > 0) throw new InvalidAuditEventError(problems);
  return time;
}
