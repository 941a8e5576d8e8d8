import { type FiredResult, MessageRefusedError } from '../../local/deployment/deploy-locally';
import type { FunctionError } from '../../local/deployment/execution-environment';
import { ScheduleError } from '../../local/deployment/schedule';

/** What became of a firing: what the execution, the function or the schedule failed with. */
export interface Fired extends Pick<FiredResult, 'attempts' | 'execution'> {
  readonly failure: Pick<FunctionError, 'errorType' | 'errorMessage'> | undefined;
}

/** Fires the schedule of the run, or of its audit. That it was not delivered is a result. */
export async function fire(schedule: { fireSchedule(time: Date): Promise<FiredResult> }, time: Date): Promise<Fired> {
  try {
    const { attempts, execution } = await schedule.fireSchedule(time);
    if (execution === undefined) return { attempts, failure: attempts.at(-1)?.error };
    const { failure } = execution;
    return { attempts, execution, failure: failure && { errorType: failure.error, errorMessage: failure.cause } };
  } catch (error) {
    if (!(error instanceof MessageRefusedError || error instanceof ScheduleError)) throw error;
    return { attempts: [], failure: { errorType: error.name, errorMessage: error.message } };
  }
}
