export const hourMs = 3_600_000;

export const dayMs = 24 * hourMs;

/** How much the clocks of the function, of S3 and of the reader may differ, and by how much one may be set back. */
export const clockSlackMs = 2 * hourMs;

/**
 * How long after a firing, or after it wrote an object, an invocation can still write its run record: an hour until it is
 * delivered, two hours in Lambda's queue with its retries, and the last attempt itself.
 */
export const underWayMs = 4 * hourMs;

/** The same for all shards of a run: they take turns. */
export const shardsUnderWayMs = dayMs;
