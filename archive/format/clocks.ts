/**
 * Every time that the archive is judged by, in one place: what is compared with what, and how far apart the two may be. There are
 * five clocks: the scheduler's, the function's, S3's, that of an authority of time stamps, and the reader's.
 */

/** The function's time limit, in seconds: Lambda's own maximum. */
export const functionTimeoutSeconds = 900;

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Between any two of the function's, S3's and the reader's clocks; and by how much one may be set back. */
export const clockSlackMs = 2 * hourMs;

/** Between the scheduler's clock and that of an audit, which may not take the place of a later one. */
export const auditSlackMs = minuteMs;

/** Between an authority's clock and S3's, when a stamp is asked for. */
export const authoritySlackMs = hourMs;

/** From the start of an attempt to its end, by clocks that differ. */
export const longestAttemptMs = functionTimeoutSeconds * 1000 + clockSlackMs;

/**
 * From a firing, or from the writing of an object, to the writing of its run record: an hour until it is delivered, six hours in
 * Lambda's queue with its retries, which is how long a run may wait for the one before it, the last attempt itself, and room for
 * clocks that differ.
 */
export const underWayMs = 9 * hourMs;

/** What was due or written up to this time, before another, does not change any more. */
export function settled(time: Date): Date {
  return new Date(time.getTime() - underWayMs);
}

/** From a run's time to the fetching of what it archived: later than this, content is late, and younger than its key says. */
export const lateContentMs = hourMs;

/** From the writing of a run record to the listing of the seal that has to have it. */
export const sealedWithinMs = 15 * minuteMs;

/** A seal's listing begins at most so long before its own time, and so long after it, because a retry is late. */
export const listedBeforeMs = 5 * minuteMs;
export const listedWithinMs = dayMs;

/** From a seal's listing to its first stamp: later than the first of these it is late, and later than the second not stamped. */
export const lateStampMs = dayMs;
export const stampedWithinMs = 3 * dayMs;

/** By how much a run may come earlier in its day, and count as so many whole days after another. */
export const earlyRunMs = hourMs;

/** Days for which the bucket keeps what expired, or was overwritten or deleted: time to notice a mistake. */
export const formerVersionDays = 30;
