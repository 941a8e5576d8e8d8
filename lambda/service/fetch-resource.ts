import { type BodyCheck, NotDecodableError } from '../body/body-check';
import { createLogRecordCheck } from '../body/log-record';
import { createManifestCheck } from '../body/manifest';
import type { Clock } from '../clock';
import type { Stop } from '../stop';
import type { Pace } from './pace';
import type { RejectionGuard } from './rejection-guard';
import type { ResourceRequest, ServiceAnswer } from './resource-request';
import { isRetried, maxRequests, retryDelayMs } from './retry';
import { ServiceError } from './service-error';

/** The service, one request a call. */
export interface ClusterService {
  get(
    request: ResourceRequest,
    key: string,
    check: (mediaType: string | undefined) => BodyCheck,
    signal: AbortSignal,
  ): Promise<ServiceAnswer>;
}

/** The API key, cached and read again. */
export interface KeySource {
  current(signal: AbortSignal): Promise<string>;
  afterRejection(rejected: string, signal: AbortSignal): Promise<string>;
}

/** Makes the check for one body; `asReceived` after a body that could not be decoded as its media type promised. */
export type CheckFactory = (request: ResourceRequest, mediaType: string | undefined, asReceived: boolean) => BodyCheck;

export interface FetchContext {
  readonly service: ClusterService;
  readonly keys: KeySource;
  readonly createCheck: CheckFactory;
  readonly pace: Pace;
  readonly guard: RejectionGuard;
  readonly stop: Stop;
  readonly clock: Clock;
  /** Milliseconds until the run must stop. */
  readonly timeLeftMs: () => number;
  /** Called for every answer that asks for fewer requests: 429, or 503 with a Retry-After. */
  readonly onThrottled: () => void;
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
  const { service, keys, createCheck, pace, guard, stop } = context;
  let asReceived = false;
  let rejectedKey: string | undefined;
  let last: ServiceError | undefined;
  for (;;) {
    await pace.turn(stop.starting).catch((interruption: unknown) => {
      throw last === undefined ? interruption : ended(last, interruption);
    });
    const key = await keys.current(stop.working);
    count.requests += 1;
    try {
      const check = (mediaType: string | undefined) => createCheck(request, mediaType, asReceived);
      const answer = await service.get(request, key, check, stop.working);
      pace.succeeded();
      guard.accepted();
      return answer;
    } catch (error) {
      if (error instanceof NotDecodableError && !asReceived) {
        asReceived = true;
        continue;
      }
      if (!(error instanceof ServiceError)) throw error;
      last = error;
      if (error.rejected) {
        const fresh = await keys.afterRejection(key, stop.working);
        // One more try per new key: a rotation in the middle of the run costs nobody their log.
        if (fresh !== key && rejectedKey !== key && count.requests < maxRequests) {
          rejectedKey = key;
          continue;
        }
        guard.rejected(request.cluster);
        throw error;
      }
      await waitOrGiveUp(error, count.requests, context);
    }
  }
}

/** Resolves when the next request is due. @throws ServiceError if there is none */
async function waitOrGiveUp(error: ServiceError, requests: number, context: FetchContext): Promise<void> {
  const { clock, pace, stop, timeLeftMs } = context;
  const delayMs = retryDelayMs(requests, error.retryAfterMs, () => clock.random());
  if (error.throttled) {
    context.onThrottled();
    pace.throttled(Math.min(delayMs, longestSharedPauseMs));
  }
  if (!isRetried(error.failure, error.status)) throw error;
  if (requests >= maxRequests) throw ended(error, `gave up after ${requests} requests`);
  if (delayMs >= timeLeftMs())
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

/** The check for one body, chosen by what was asked for and how the service calls what it sends. */
export function createCheck(
  { resource, cluster }: ResourceRequest,
  mediaType: string | undefined,
  asReceived: boolean,
): BodyCheck {
  return resource === 'log' ? createLogRecordCheck(cluster) : createManifestCheck({ mediaType, asReceived });
}
