import { Duration } from 'aws-cdk-lib';
import type { RetryProps } from 'aws-cdk-lib/aws-stepfunctions';
import type { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { unreachedRetry, type Waits } from '../lambda/time-limits';

/** Errors of the function that every attempt at the same event ends with. */
const permanent = ['InvalidEventError', 'RunNotFoundError'];

/** Lambda's refusal of what another run still uses, with reserved concurrency, or of what the account has no room for. */
export const throttled = 'Lambda.TooManyRequestsException';

/** Errors of Lambda itself: the function was not reached. */
const unreached = [
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  throttled,
];

export function neverRetryPermanent(task: LambdaInvoke): void {
  task.addRetry({ errors: permanent, maxAttempts: 0 });
}

/** Without jitter, which halves the waits: in an account with little concurrency the shards would give up before their turn. */
export function retryUnreached(task: LambdaInvoke): void {
  task.addRetry({ errors: unreached, ...retries(unreachedRetry) });
}

export function retries({ times, firstWaitSeconds, backoffRate, longestWaitSeconds }: Waits): RetryProps {
  return {
    interval: Duration.seconds(firstWaitSeconds),
    backoffRate,
    ...(longestWaitSeconds !== undefined && { maxDelay: Duration.seconds(longestWaitSeconds) }),
    maxAttempts: times,
  };
}
