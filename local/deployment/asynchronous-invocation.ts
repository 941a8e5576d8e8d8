import type { InvocationResult } from './execution-environment';

/** What became of one event in Lambda's queue. */
export interface AsynchronousResult {
  readonly requestId: string;
  /** All attempts, oldest first. */
  readonly attempts: readonly InvocationResult[];
  /** Why Lambda gave up; undefined: the last attempt succeeded. */
  readonly condition?: 'RetriesExhausted' | 'EventAgeExceeded';
}

/** Time as Lambda's queue of events sees it. */
export interface QueueClock {
  /** Milliseconds since the epoch. */
  now(): number;
  wait(seconds: number): Promise<void>;
}

/** The function's reserved concurrency is in use. */
export class ThrottledError extends Error {
  override readonly name = 'ThrottledError';

  constructor(functionName: string) {
    super(`Invoking ${functionName} failed: TooManyRequestsException: its reserved concurrency is in use`);
  }
}

/** The document that Lambda sends to a failure destination. */
export function failureRecord(
  functionArn: string,
  event: unknown,
  { requestId, attempts, condition }: AsynchronousResult,
): object {
  return {
    version: '1.0',
    timestamp: new Date().toISOString(),
    requestContext: {
      requestId,
      functionArn: `${functionArn}:$LATEST`,
      condition,
      approximateInvokeCount: attempts.length,
    },
    requestPayload: event,
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    responsePayload: attempts.at(-1)?.error,
  };
}
