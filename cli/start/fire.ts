import { MessageRefusedError } from '../../local/deployment/deploy-locally';
import type { FunctionError, InvocationResult } from '../../local/deployment/execution-environment';
import { ScheduleError } from '../../local/deployment/schedule';
import type { ExecutionResult } from '../../local/deployment/shards';

/** What became of a firing: what the execution, the function or the schedule failed with. */
export interface Fired {
  readonly attempts: readonly InvocationResult[];
  readonly failure: FunctionError | undefined;
}

/** Fires the schedule of the run, or of its audit. That it was not delivered is a result. */
export async function fire(
  schedule: { fireSchedule(time: Date): Promise<ExecutionResult> },
  time: Date,
): Promise<Fired> {
  try {
    const { attempts, failure = attempts.at(-1)?.error } = await schedule.fireSchedule(time);
    return { attempts, failure };
  } catch (error) {
    if (!(error instanceof MessageRefusedError || error instanceof ScheduleError)) throw error;
    return { attempts: [], failure: { errorType: error.name, errorMessage: error.message } };
  }
}
