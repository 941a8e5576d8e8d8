import { invokeAsynchronously } from '../../../local/deployment/asynchronous-invocation';
import type { InvocationResult } from '../../../local/deployment/local-function';

/** A function that fails so many times, and a clock that advances by each wait. */
function setUp(failures: number) {
  let milliseconds = 0;
  const waits: number[] = [];
  const requestIds: string[] = [];
  return {
    waits,
    requestIds,
    clock: {
      now: () => milliseconds,
      wait: async (seconds: number) => {
        waits.push(seconds);
        milliseconds += seconds * 1000;
      },
    },
    turn: async () => {},
    invoke: async (requestId: string): Promise<InvocationResult> => {
      requestIds.push(requestId);
      return requestIds.length > failures
        ? { requestId, payload: 'done' }
        : { requestId, error: { errorType: 'Error', errorMessage: `failure ${requestIds.length}` } };
    },
  };
}

const limits = { maximumRetryAttempts: 2, maximumEventAgeSeconds: 3600 };

describe('an asynchronous invocation', () => {
  it('attempts an event once if it succeeds', async () => {
    const { invoke, turn, clock, requestIds } = setUp(0);
    const result = await invokeAsynchronously({ invoke, turn }, limits, clock);
    expect(result).toEqual({ requestId: requestIds[0], attempts: [{ requestId: requestIds[0], payload: 'done' }] });
  });

  it('retries after one minute and after two, with the same request id, until it succeeds', async () => {
    const { invoke, turn, clock, waits, requestIds } = setUp(2);
    const result = await invokeAsynchronously({ invoke, turn }, limits, clock);
    expect(waits).toEqual([60, 120]);
    expect(new Set(requestIds).size).toBe(1);
    expect(result.attempts).toHaveLength(3);
    expect(result.condition).toBeUndefined();
  });

  it('gives up after the last retry', async () => {
    const { invoke, turn, clock } = setUp(9);
    const result = await invokeAsynchronously({ invoke, turn }, limits, clock);
    expect(result.attempts.map(({ error }) => error?.errorMessage)).toEqual(['failure 1', 'failure 2', 'failure 3']);
    expect(result.condition).toBe('RetriesExhausted');
  });

  it('retries as often as the template says', async () => {
    const { invoke, turn, clock } = setUp(9);
    const result = await invokeAsynchronously({ invoke, turn }, { ...limits, maximumRetryAttempts: 0 }, clock);
    expect(result.attempts).toHaveLength(1);
    expect(result.condition).toBe('RetriesExhausted');
  });

  it('gives up an event that has become too old', async () => {
    const { invoke, turn, clock } = setUp(9);
    const result = await invokeAsynchronously({ invoke, turn }, { ...limits, maximumEventAgeSeconds: 100 }, clock);
    expect(result.attempts).toHaveLength(2);
    expect(result.condition).toBe('EventAgeExceeded');
  });
});
