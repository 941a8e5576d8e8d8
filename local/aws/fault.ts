import type { IncomingHttpHeaders } from 'node:http';

/** A call as a test sees it before it has any effect. */
export interface InterceptedRequest {
  readonly service: 's3' | 'secretsmanager' | 'kms' | 'sns';
  /** `PutObject`, `GetSecretValue`, `Sign`, `Publish`. */
  readonly action: string;
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
  /** ARN of the role or user that calls. */
  readonly principalArn?: string | undefined;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * What goes wrong with an authorised call. `before`: the call has no effect. `after`: it is carried out, and only its
 * answer is lost or late.
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
  /** Undefined: the connection was cut before an answer. */
  readonly status: number | undefined;
  /** The error code, if the call failed. */
  readonly code?: string | undefined;
}

/** How a test watches calls and makes them fail. */
export interface EndpointHooks {
  /** Called once per call, after its signature and the policies are checked and before it has any effect. */
  readonly intercept?: (request: InterceptedRequest) => Fault | undefined | Promise<Fault | undefined>;
  /** Called for every call just before its answer is sent. */
  readonly onRequest?: (request: LoggedRequest) => void;
}
