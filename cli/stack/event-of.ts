/** What a person asks the function for. */
export interface RunWishes {
  /** Time of a new run; ignored if an earlier run is completed. */
  readonly newRun: Date;
  /** Time of an earlier run that is to be completed. */
  readonly run?: Date | undefined;
  /** Whether that run left no record. */
  readonly withoutRecord?: boolean | undefined;
  /** Left out: all that the run covers. */
  readonly clusters?: readonly string[] | undefined;
  readonly dryRun?: boolean | undefined;
  readonly requestId?: string | undefined;
}

/** The event that asks the function for this (docs/operations.md, "Starting a run by hand"). */
export function eventOf({ newRun, run, withoutRecord, clusters, dryRun, requestId }: RunWishes): object {
  const time = (run ?? newRun).toISOString();
  const name = run === undefined ? 'newRun' : withoutRecord ? 'scheduledTime' : 'run';
  return { [name]: time, ...(clusters && { clusters }), ...(dryRun && { dryRun }), ...(requestId && { requestId }) };
}
