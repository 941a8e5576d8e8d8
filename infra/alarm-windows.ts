import type { Gap } from '../archive/format/schedule/cron-gap';

/**
 * Period of the alarms that follow runs, in seconds. A window of periods below one hour may last a day at most, one of
 * whole hours seven days (PutMetricAlarm, parameter Period).
 */
export const alarmPeriodSeconds = 3600;

/** Longest window of an alarm, in hours: seven days. */
export const longestWindowHours = 168;

/** Longest window that CloudWatch evaluates every minute, in hours; longer ones it evaluates once per hour. */
export const promptWindowHours = 24;

/** Longest warm-up of a new alarm, in minutes: two days. */
export const longestWarmUpMinutes = 2880;

/** How long after the longest gap of the schedule an audit counts as missing, in hours. */
export const missingMarginHours = 1;

/** Share of the time limit above which a run is close to it. */
export const closeToLimitShare = 0.8;

/** How long a copy may be pending, in seconds, before somebody hears of it. */
export const longestPendingSeconds = 86_400;

/** Fewest throttled answers in an hour that raise the alarm: fewer are only a busy moment of the service. */
export const leastThrottledAnswers = 10;

/** Share of throttled answers in an hour, in percent, above which the service asks for a slower pace. */
export const throttledPercent = 10;

/** Hours without a run of the schedule after which one is missing; undefined if no alarm looks back that far. */
export function missingWindowHours(
  { hours }: Pick<Gap, 'hours'>,
  marginHours: number = missingMarginHours,
): number | undefined {
  const window = Math.ceil(hours + marginHours);
  return window <= longestWindowHours ? window : undefined;
}

/**
 * How long an alarm about one run stays, in hours: until the next run has had its time, so that OK means a better run
 * and not only that minutes have passed. It is a day at most, because CloudWatch evaluates longer windows only once per
 * hour. With a schedule that fires less often, each failing run raises the alarm again.
 * @param most longest stay
 */
export function stayHours(
  { hours }: Pick<Gap, 'hours'>,
  marginHours: number = missingMarginHours,
  most: number = promptWindowHours,
): number {
  return Math.min(most, Math.ceil(hours + marginHours));
}

/** Hours in words, rounded up to a tenth, and below an hour to a minute. */
export function hoursText(hours: number): string {
  const minutes = Math.ceil(hours * 60);
  if (minutes < 60) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const rounded = Math.ceil(hours * 10) / 10;
  return rounded === 1 ? '1 hour' : `${rounded} hours`;
}
