import { asynchronousAttempts, unansweredReasons } from '../../lambda/stack-contract';
import { type FiredResult, MessageRefusedError } from '../../local/deployment/deploy-locally';
import type { FunctionError, InvocationResult } from '../../local/deployment/execution-environment';
import type { AroundInvocation } from '../../local/deployment/local-function';
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

/**
 * Leaves out the last attempt of a run if the attempt before ended early because nobody was answered. In Lambda the last
 * one asks until its deadline, for up to 14 minutes, which nobody at a terminal waits for.
 * @param onLeftOut called then; the result of the attempt before stands for the one that is left out
 */
export function leaveOutLast(onLeftOut: () => void): AroundInvocation {
  // By event: its retries have the same one.
  const attempts = new Map<string, InvocationResult[]>();
  return async (event, invoke) => {
    const results = attempts.get(JSON.stringify(event)) ?? [];
    attempts.set(JSON.stringify(event), results);
    const before = results.at(-1);
    const { errorMessage = '' } = before?.error ?? {};
    const isDown = Object.values(unansweredReasons).some((why) => errorMessage.includes(`It ended early: ${why}`));
    if (before !== undefined && isDown && results.length === asynchronousAttempts - 1) {
      onLeftOut();
      return before;
    }
    const result = await invoke();
    results.push(result);
    return result;
  };
}
