import { asynchronousAttempts, serviceDownReason } from '../../lambda/stack-contract';
import type { AroundInvocation } from '../../local/deployment/deployed-function';
import type { InvocationResult } from '../../local/deployment/local-function';

/**
 * Leaves out the last attempt of a run if the attempt before ended early because the service is down. In Lambda the last
 * one asks until its deadline, for up to 14 minutes, which nobody at a terminal waits for.
 */
export class LastAttempt {
  /** Results so far of each event: its retries have the same one. */
  readonly #results = new Map<string, InvocationResult[]>();
  #isLeftOut = false;

  get isLeftOut(): boolean {
    return this.#isLeftOut;
  }

  /** For the local deployment. The result of the attempt before stands for the one that is left out. */
  readonly aroundInvocation: AroundInvocation = async (event, invoke) => {
    const results = this.#results.get(JSON.stringify(event)) ?? [];
    this.#results.set(JSON.stringify(event), results);
    const before = results.at(-1);
    if (
      before?.error?.errorMessage.includes(`It ended early: ${serviceDownReason}`) &&
      results.length === asynchronousAttempts - 1
    ) {
      this.#isLeftOut = true;
      return before;
    }
    const result = await invoke();
    results.push(result);
    return result;
  };
}
