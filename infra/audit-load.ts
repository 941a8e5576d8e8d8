import { firingsOf } from '../lambda/schedule/firings';
import { deadlineReserveSeconds, functionTimeoutSeconds } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';

/** Seconds that an audit takes for one request to S3: measured, docs/operations.md, "What an audit takes". */
const secondsPerRequest = 0.003;

/** Most requests of one audit. */
const mostRequests = (functionTimeoutSeconds - deadlineReserveSeconds) / secondsPerRequest;

/** Span in which runs and audits are counted, in days: a month's calendar has at least so many. */
const days = 28;

/** Whether audits read as much as runs archive. */
export interface AuditLoad {
  readonly keepsUp: boolean;
  /** Audits per day that would keep up; undefined: no number would. */
  readonly perDay: number | undefined;
}

/**
 * An audit lists what every cluster has of each resource, and reads every new object. What it does not reach is carried
 * over, so that the sum over some weeks decides and not the busiest day.
 * @param schedule of the audit
 */
export function auditLoad(
  { clusters, schedule: ofRuns }: Pick<CollectorConfig, 'clusters' | 'schedule'>,
  schedule: { readonly expression: string; readonly timeZone: string },
  now: Date,
): AuditLoad {
  const objectsPerRun = clusters.reduce((sum, { resources }) => sum + (resources?.length ?? 2), 0);
  const runs = ofRuns.enabled ? firingsIn(ofRuns, now) : 0;
  const audits = firingsIn(schedule, now);
  const toRead = runs * objectsPerRun;
  const forReading = mostRequests - objectsPerRun;
  const perDay = Math.ceil(toRead / forReading / days);
  // A schedule that fires less than once in the span is not judged.
  return { keepsUp: audits === 0 || toRead <= audits * forReading, perDay: forReading > 0 ? perDay : undefined };
}

function firingsIn({ expression, timeZone }: { readonly expression: string; readonly timeZone: string }, from: Date) {
  let count = 0;
  for (const _ of firingsOf(expression, timeZone).between(from, new Date(from.getTime() + days * 86_400_000)))
    count += 1;
  return count;
}
