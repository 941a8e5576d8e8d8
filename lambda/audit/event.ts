import * as z from 'zod/mini';
import { auditSlackMs, dayMs } from '../../archive/format/clocks';
import { members } from '../../archive/format/cluster-schema';
import { eventTime, readEvent } from '../read-event';

/**
 * @param event as Lambda delivers it to the audit; nothing at all means `{}`
 * @param now whoever may invoke the audit must not take the place of a later one, nor of one that is long over
 * @returns the time that names the audit; undefined: now
 * @throws InvalidEventError with every problem at once
 */
export function parseAuditEvent(event: unknown, now: Date): Date | undefined {
  const expected = 'a time such as 2026-11-20T06:30:00Z';
  const scheduledTime = z.optional(eventTime(now, expected, auditSlackMs, dayMs));
  // Who reports failures tells by it that no run was lost.
  const audit = z.optional(z.literal(true));
  const schema = members({ scheduledTime, audit });
  return readEvent(schema, event, 'nothing was audited', 'An empty event {} audits now.').scheduledTime;
}
