/** Clocks that differ, and how long an attempt can take: what every reader of the archive judges times by. */

/** The function's time limit, in seconds: Lambda's own maximum. */
export const functionTimeoutSeconds = 900;

export const hourMs = 3_600_000;

export const dayMs = 24 * hourMs;

/** How much the clocks of the function, of S3 and of the reader may differ, and by how much one may be set back. */
export const clockSlackMs = 2 * hourMs;

/** The longest that an attempt can have taken by clocks that differ. */
export const longestAttemptMs = functionTimeoutSeconds * 1000 + clockSlackMs;

/**
 * How long after a firing, or after it wrote an object, an invocation can still write its run record: an hour until it is
 * delivered, six hours in Lambda's queue with its retries, which is how long a run may wait for the one before it, the last
 * attempt itself, and room for clocks that differ.
 */
export const underWayMs = 9 * hourMs;

/** What was due or written up to this time, before another, does not change any more. */
export function settled(time: Date): Date {
  return new Date(time.getTime() - underWayMs);
}

/** Days for which the bucket keeps what expired, or was overwritten or deleted: time to notice a mistake. */
export const formerVersionDays = 30;
