/**
 * How old an event may become before Lambda gives it up, in seconds. More than the longest run with all its attempts, or
 * Lambda would skip the last ones; the rest is room for throttling in a busy account. Lambda's own maximum is six hours.
 */
export const eventAgeSeconds = 2 * 60 * 60;

/** How long EventBridge Scheduler tries to hand a run to Lambda, in seconds, before the dead-letter queue gets it. */
export const deliveryAgeSeconds = 60 * 60;
