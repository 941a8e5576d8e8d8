import type { IncomingHttpHeaders } from 'node:http';

/** A call as a test may interfere with it. */
export interface InterceptedRequest {
  readonly service: 's3' | 'secretsmanager';
  /** `PutObject`, `GetSecretValue`. */
  readonly action: string;
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * What goes wrong with a call that was signed and authorised. `before`: the call had no effect. `after`: it was carried
 * out, and only its answer is lost or late.
 */
export type Fault =
  | {
      readonly kind: 'error';
      readonly status: number;
      /** The service's error code: `SlowDown`, `AccessDenied`, `ConditionalRequestConflict`, `ThrottlingException`. */
      readonly code: string;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** Left out: before. */
      readonly when?: 'before' | 'after';
    }
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
  /** The answer waits for the promise; to delay the call itself, let `intercept` return a promise. */
  | { readonly kind: 'delay'; readonly until: Promise<unknown> };

/** One answered call. */
export interface LoggedRequest extends InterceptedRequest {
  readonly principalArn?: string | undefined;
  /** Undefined: the connection was cut before an answer. */
  readonly status: number | undefined;
  /** The error code of an answer that is no success. */
  readonly code?: string | undefined;
}

/** How a test looks into the endpoint and interferes with it. */
export interface EndpointHooks {
  /** Asked once per call, after signature and policies and before any effect. */
  readonly intercept?: (request: InterceptedRequest) => Fault | undefined | Promise<Fault | undefined>;
  /** Told of every call just before its answer is sent. */
  readonly onRequest?: (request: LoggedRequest) => void;
}
