import { isNativeError } from 'node:util/types';
import { InvalidBodyError, NotDecodableError } from '../body/body-check';
import type { Task } from '../dispatch/task';
import type { ResourceRequest } from '../service/resource-request';
import { lastFailure } from '../service/service-error';
import { RunStopped } from '../stop';
import type { Outcome } from './run-record';

type Failed = Pick<Outcome, 'outcome' | 'httpStatus' | 'error'>;

/** How an outcome names its task. */
export function nameOf({
  cluster,
  resource,
  optional,
}: ResourceRequest): Pick<Outcome, 'cluster' | 'resource' | 'optional'> {
  return { cluster, resource, ...(optional && { optional }) };
}

/** What is recorded of a task that was attempted and is not archived. */
export function failedOutcome(error: unknown): Failed {
  const reason = error instanceof RunStopped ? `cancelled: ${error.message}` : messageOf(error);
  return { outcome: 'failed', ...statusOf(error), error: reason };
}

/** What is recorded of a task that is left when the attempt ends early. */
export function leftOutcome({ requests, last }: Task, reason: string): Failed {
  if (requests === 0) return { outcome: 'not-attempted', error: reason };
  if (last === undefined) return { outcome: 'failed', error: reason };
  return failedOutcome(lastFailure(last, `no further request: ${reason}`));
}

export function messageOf(error: unknown): string {
  return isNativeError(error) ? error.message : String(error);
}

function statusOf(error: unknown): { httpStatus?: number } {
  // Only the body of a 200 is checked.
  if (error instanceof InvalidBodyError || error instanceof NotDecodableError) return { httpStatus: 200 };
  const status = isNativeError(error) && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? { httpStatus: status } : {};
}
