import { asynchronousAttempts, unansweredReasons } from '../../lambda/stack-contract';
import type { InvocationResult } from '../../local/deployment/execution-environment';
import type { AroundInvocation } from '../../local/deployment/local-function';

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
