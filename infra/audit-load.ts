import { functionTimeoutSeconds } from '../archive/format/clocks';
import { firingsOf } from '../archive/format/schedule/firings';
import { deadlineReserveSeconds } from '../lambda/time-limits';
import type { CollectorConfig } from './config/config';

/** What an audit has time for, and what that means for its schedule and for how often old content is read again. */

/** Seconds that an audit takes for one request to S3: measured, docs/background.md, "What an audit takes". */
const secondsPerRequest = 0.003;

/** How long an audit works, in seconds. */
const auditSeconds = functionTimeoutSeconds - deadlineReserveSeconds;

/** Most requests of one audit. */
const mostRequests = auditSeconds / secondsPerRequest;

/** Old objects that an audit reads again in a second: measured, docs/background.md, "What an audit takes". */
const rereadPerSecond = 210;

/** Days within which everything is read again, if the audits have the time. */
const shortestRereadDays = 90;

/** Days of runs that count where nothing expires: an archive that grows without end outgrows every number of days. */
const daysWithoutRetention = 730;

/** Span in which runs and audits are counted, in days: a month's calendar has at least so many. */
const days = 28;

type Schedule = CollectorConfig['schedule'];

/**
 * Whether audits read as much as runs archive.
 *
 * An audit lists what every cluster has of each resource, and reads every new object. What it does not reach is carried
 * over, so that the sum over some weeks decides and not the busiest day.
 * @param schedule of the audit
 */
export function auditsKeepUp(
  config: Pick<CollectorConfig, 'clusters' | 'schedule'>,
  schedule: Schedule,
  now: Date,
): boolean {
  const audits = firingsIn(schedule, now);
  const inRun = objectsPerRun(config);
  // A schedule that fires less than once in the span is not judged.
  return audits === 0 || firingsIn(config.schedule, now) * inRun <= audits * (mostRequests - inRun);
}

function firingsIn({ expression, timeZone, enabled }: Schedule, from: Date): number {
  if (!enabled) return 0;
  const until = new Date(from.getTime() + days * 86_400_000);
  return [...firingsOf(expression, timeZone).between(from, until)].length;
}

/** The default of `audit.rereadDays`: half of the time of the audits has to suffice for all that the archive holds. */
export function rereadDaysFor(
  config: Pick<CollectorConfig, 'clusters' | 'schedule' | 'archive'>,
  schedule: Schedule,
  now: Date,
): number {
  const objects =
    firingsIn(config.schedule, now) * objectsPerRun(config) * (config.archive.retentionDays ?? daysWithoutRetention);
  // An audit that starts less often than once in the span: as if it did once.
  const readable = Math.max(1, firingsIn(schedule, now)) * (auditSeconds / 2) * rereadPerSecond;
  return Math.max(shortestRereadDays, Math.ceil(objects / readable));
}

function objectsPerRun({ clusters }: Pick<CollectorConfig, 'clusters'>): number {
  return clusters.reduce((sum, { resources }) => sum + (resources?.length ?? 2), 0);
}
