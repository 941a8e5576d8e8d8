import * as z from 'zod';
import type { FunctionDefinition } from './function-definition';
import type { AsynchronousLimits, AsynchronousResult } from './invoke-asynchronously';
import type { StackTemplate } from './stack-template';

/** What the template says about asynchronous invocations. */
export interface AsynchronousSettings extends AsynchronousLimits {
  /** ARN of where an event goes that Lambda gave up; undefined: nowhere. */
  readonly failureDestination: string | undefined;
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
export function readAsynchronousSettings(stack: StackTemplate, { name }: FunctionDefinition): AsynchronousSettings {
  const config = stack
    .resourcesOf('AWS::Lambda::EventInvokeConfig')
    .map((resource) => resource.read(invokeConfigSchema))
    .find(({ FunctionName }) => FunctionName === name);
  return {
    maximumRetryAttempts: config?.MaximumRetryAttempts ?? 2,
    maximumEventAgeSeconds: config?.MaximumEventAgeInSeconds ?? 21_600,
    failureDestination: config?.DestinationConfig.OnFailure?.Destination,
  };
}

/** The document that Lambda sends to a failure destination. */
export function failureRecord(
  { arn }: FunctionDefinition,
  event: unknown,
  { requestId, attempts, condition }: AsynchronousResult,
): object {
  return {
    version: '1.0',
    timestamp: new Date().toISOString(),
    requestContext: {
      requestId,
      functionArn: `${arn}:$LATEST`,
      condition,
      approximateInvokeCount: attempts.length,
    },
    requestPayload: event,
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    responsePayload: attempts.at(-1)?.error,
  };
}
