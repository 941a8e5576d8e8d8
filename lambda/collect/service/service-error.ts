/** What went wrong with one request to the service. */
export type ServiceFailure =
  /** No connection, or it was lost before an answer. */
  | 'connection'
  /** Connecting, the answer's head or its body took too long. */
  | 'timeout'
  /** The body ended early, bytes followed its end, or its trailer names an error. */
  | 'cut'
  /** The body's content coding is damaged or unknown. The next request asks for no coding. */
  | 'coding'
  /** A status other than 200. */
  | 'status'
  /** The certificate is not trusted, or the answer's head shows that its body cannot be used: asking again does not help. */
  | 'unusable'
  /** The answer over a used connection may be another request's. The next request gets a connection of its own. */
  | 'used-connection';

export interface ServiceErrorDetails {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly lasting?: string | undefined;
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
  /** What is wrong with the address or the certificate, and what to do: until then, asking again hardly helps. */
  readonly lasting: string | undefined;

  constructor(message: string, failure: ServiceFailure, details: ServiceErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.failure = failure;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.lasting = details.lasting;
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

/** The last failure of a task, with the reason why no further request follows. */
export function lastFailure(failure: ServiceError, reason: string): ServiceError {
  const { status, retryAfterMs } = failure;
  return new ServiceError(`${failure.message}; ${reason}`, failure.failure, { status, retryAfterMs, cause: failure });
}
