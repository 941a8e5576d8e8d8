/** What went wrong with one request to the service. */
export type ServiceFailure =
  /** No connection, or it was lost before an answer. */
  | 'connection'
  /** A certificate that is not trusted, expired or of another name. */
  | 'certificate'
  /** Connecting, the answer's head or its body took too long. */
  | 'timeout'
  /** The body ended early. */
  | 'cut'
  /** The body's content coding is damaged, or none that can be undone: the next request asks for none. */
  | 'coding'
  /** A status other than 200. */
  | 'status'
  /** More decoded content than `limits.maxBodyMiB`. */
  | 'too-large'
  /** A coding although none was asked for, or a body whose end cannot be told. */
  | 'encoding'
  /** It cannot be told whether the answer is whole, and this request's: the next request gets a new connection. */
  | 'unproven';

export interface ServiceErrorDetails {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** One request to the service failed. The message names the call, the cluster and the reason, never the key. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly failure: ServiceFailure;
  /** Status of the answer, where there was one. */
  readonly status: number | undefined;
  /** What Retry-After asks for, in milliseconds from the answer's arrival. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, failure: ServiceFailure, details: ServiceErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.failure = failure;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** The service does not accept the key, or not for this cluster. */
  get rejected(): boolean {
    return this.status === 401 || this.status === 403;
  }

  /** The service asks for fewer requests: 429, or 503 with a Retry-After. */
  get throttled(): boolean {
    return this.status === 429 || (this.status === 503 && this.retryAfterMs !== undefined);
  }
}

/** A failure that stays the last one, with the reason why. */
export function lastFailure(failure: ServiceError, reason: string): ServiceError {
  const { status, retryAfterMs } = failure;
  return new ServiceError(`${failure.message}; ${reason}`, failure.failure, { status, retryAfterMs, cause: failure });
}
