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
