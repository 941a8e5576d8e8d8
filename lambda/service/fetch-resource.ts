import { type BodyCheck, NotDecodableError } from '../body/body-check';
import { createLogRecordCheck } from '../body/log-record';
import { createManifestCheck } from '../body/manifest';
import type { Clock } from '../clock';
import type { Stop } from '../stop';
import type { KeySource } from './key-source';
import type { Pace } from './pace';
import type { RejectionGuard } from './rejection-guard';
import type { ResourceRequest, ServiceAnswer } from './resource-request';
import { isRetried, maxRequests, retryDelayMs } from './retry';
import { ServiceError } from './service-error';

/** Makes the check for one body, once the answer's media type is known. */
export type CheckFactory = (mediaType: string | undefined) => BodyCheck;

/**
 * Called when the head of an answer has arrived.
 * @param received tells at any time how many bytes of the body have arrived, as they came over the wire
 */
export type OnHead = (status: number, received: () => number) => void;

/** The service, one request a call. */
export interface ClusterService {
  get(request: ResourceRequest, key: string, check: CheckFactory, signal: AbortSignal): Promise<ServiceAnswer>;
}

export interface FetchContext {
  readonly service: ClusterService;
  readonly keys: KeySource;
  readonly pace: Pace;
  readonly guard: RejectionGuard;
  readonly stop: Stop;
  readonly clock: Clock;
  readonly reporter: { throttled(): void };
}

/** How often the service was asked for one resource; grows while {@link fetchResource} works, also when it fails. */
export interface RequestCount {
  requests: number;
}

/**
 * Longest pause that one answer imposes on the whole run, in milliseconds: the request itself waits as long as it was
 * told, but one cluster's absurd Retry-After must not stop the others.
 */
const longestSharedPauseMs = 60_000;

/**
 * Fetches one resource of one cluster, with all retries.
 * @throws ServiceError, InvalidBodyError, SpoolError, ApiKeyError: the last failure; RunStopped before the first request
 */
export async function fetchResource(
  request: ResourceRequest,
  count: RequestCount,
  context: FetchContext,
): Promise<ServiceAnswer> {
  const { service, keys, pace, guard, stop } = context;
  const state: FetchState = { count, asReceived: false };
  for (;;) {
    await pace.turn(stop.starting).catch((interruption: unknown) => {
      throw state.last === undefined ? interruption : ended(state.last, interruption);
    });
    const key = await keys.current(stop.working);
    count.requests += 1;
    try {
      const answer = await service.get(request, key, checkFactory(request, state.asReceived), stop.working);
      pace.succeeded();
      guard.accepted();
      return answer;
    } catch (error) {
      await prepareNextRequest(error, request, key, state, context);
    }
  }
}

/** The check for one body, chosen by what was asked for and by the answer's media type. */
export function checkFactory({ resource, cluster }: ResourceRequest, asReceived: boolean): CheckFactory {
  if (resource === 'log') return () => createLogRecordCheck(cluster);
  return (mediaType) => createManifestCheck({ mediaType, asReceived });
}

/** What the requests for one resource have led to so far. */
interface FetchState {
  readonly count: RequestCount;
  /** Whether the body is kept as received, because it could not be decoded as its media type promised. */
  asReceived: boolean;
  /** The last key that a newly read one has replaced. */
  rejectedKey?: string;
  last?: ServiceError;
}

/** Resolves when the next request is due. @throws the failure if there is to be none */
async function prepareNextRequest(
  error: unknown,
  request: ResourceRequest,
  key: string,
  state: FetchState,
  context: FetchContext,
): Promise<void> {
  if (error instanceof NotDecodableError && !state.asReceived) {
    state.asReceived = true;
    return;
  }
  if (!(error instanceof ServiceError)) throw error;
  state.last = error;
  if (!error.rejected) return waitForRetry(error, state.count.requests, context);
  const fresh = await context.keys.afterRejection(key, context.stop.working);
  // One more request for each new key: a rotation in the middle of the run loses no log.
  if (fresh !== key && state.rejectedKey !== key && state.count.requests < maxRequests) {
    state.rejectedKey = key;
    return;
  }
  context.guard.rejected(request.cluster);
  throw error;
}

/** Resolves when the next request is due. @throws ServiceError if there is none */
async function waitForRetry(error: ServiceError, requests: number, context: FetchContext): Promise<void> {
  const { clock, pace, stop, reporter } = context;
  const delayMs = retryDelayMs(requests, error.retryAfterMs, () => clock.random());
  if (error.throttled) {
    reporter.throttled();
    pace.throttled(Math.min(delayMs, longestSharedPauseMs));
  }
  if (!isRetried(error.failure, error.status)) throw error;
  if (requests >= maxRequests) throw ended(error, `gave up after ${requests} requests`);
  if (delayMs >= stop.timeLeftMs)
    throw ended(error, `the next request would be due in ${Math.ceil(delayMs / 1000)} s, after this attempt's time`);
  await clock.sleep(delayMs, stop.starting).catch((interruption: unknown) => {
    throw ended(error, interruption);
  });
}

/** The last failure with the reason why it stays the last. */
function ended(last: ServiceError, why: unknown): ServiceError {
  const { failure, status, retryAfterMs } = last;
  const reason = why instanceof Error ? `no further request: ${why.message}` : String(why);
  return new ServiceError(`${last.message}; ${reason}`, failure, { status, retryAfterMs, cause: last });
}
