import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { asynchronousRetryWaits } from '../../lambda/stack-contract';
import type { InvocationResult } from './local-function';
import type { StackTemplate } from './stack-template';

/** What the template says about asynchronous invocations. */
export interface AsynchronousSettings {
  /** Retries after the first attempt: 0, 1 or 2. */
  readonly maximumRetryAttempts: number;
  readonly maximumEventAgeSeconds: number;
  /** ARN that gets a record of each event that Lambda gave up; undefined: none does. */
  readonly failureDestination: string | undefined;
}

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

const destination = z.strictObject({ Destination: z.string() });

const invokeConfigSchema = z.strictObject({
  DestinationConfig: z.strictObject({ OnFailure: destination.optional() }).default({}),
  FunctionName: z.string(),
  MaximumEventAgeInSeconds: z.int().min(60).max(21_600).default(21_600),
  MaximumRetryAttempts: z.int().min(0).max(2).default(2),
  Qualifier: z.literal('$LATEST'),
});

/** Lambda's own defaults where the template has no configuration for the function. */
export function readAsynchronousSettings(stack: StackTemplate, functionName: string): AsynchronousSettings {
  const config = stack
    .resourcesOf('AWS::Lambda::EventInvokeConfig')
    .map((resource) => resource.read(invokeConfigSchema))
    .find(({ FunctionName }) => FunctionName === functionName);
  return {
    maximumRetryAttempts: config?.MaximumRetryAttempts ?? 2,
    maximumEventAgeSeconds: config?.MaximumEventAgeInSeconds ?? 21_600,
    failureDestination: config?.DestinationConfig.OnFailure?.Destination,
  };
}

/** The function's reserved concurrency is in use. */
export class ThrottledError extends Error {
  override readonly name = 'ThrottledError';

  constructor(functionName: string) {
    super(`Invoking ${functionName} failed: TooManyRequestsException: its reserved concurrency is in use`);
  }
}

/** An event in the queue of a function. */
export interface QueuedEvent {
  /** @throws ThrottledError if it is too early */
  invoke(requestId: string): Promise<InvocationResult>;
  /** Waits until an invocation ends. Lambda looks again by itself, at the latest after five minutes. */
  turn(): Promise<unknown>;
}

/** Attempts an event as Lambda does after an asynchronous invocation: every attempt has the same request id. */
export async function invokeAsynchronously(
  event: QueuedEvent,
  { maximumRetryAttempts, maximumEventAgeSeconds }: Omit<AsynchronousSettings, 'failureDestination'>,
  clock: QueueClock,
): Promise<AsynchronousResult> {
  const requestId = randomUUID();
  const queuedAt = clock.now();
  const attempts: InvocationResult[] = [];
  for (const wait of [0, ...asynchronousRetryWaits.slice(0, maximumRetryAttempts)]) {
    if (wait > 0) await clock.wait(wait);
    let result: InvocationResult | undefined;
    while (result === undefined) {
      if (clock.now() - queuedAt > maximumEventAgeSeconds * 1000)
        return { requestId, attempts, condition: 'EventAgeExceeded' };
      result = await event.invoke(requestId).catch(async (error: unknown) => {
        if (!(error instanceof ThrottledError)) throw error;
        await event.turn();
        return undefined;
      });
    }
    attempts.push(result);
    if (result.error === undefined) return { requestId, attempts };
  }
  return { requestId, attempts, condition: 'RetriesExhausted' };
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
