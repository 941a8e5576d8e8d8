import type { EndpointHooks } from '../../local/aws/aws-endpoint';
import { AwsError } from '../../local/aws/aws-error';

type AroundCall = NonNullable<EndpointHooks['around']>;

/** A call as a test sees it before it has any effect. */
export type InterceptedRequest = Parameters<AroundCall>[0];

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

/** Chooses the fault of a call; undefined: none. */
export type Intercept = (request: InterceptedRequest) => Fault | undefined | Promise<Fault | undefined>;

/** Makes calls to the embedded endpoint fail. What holds a call back lets it go when the endpoint closes. */
export function injectFaults(intercept: Intercept): AroundCall {
  return async (call, execute, closing) => {
    const unlessClosing = <T>(value: T | Promise<T>) => Promise.race([value, closing]);
    const fault = await unlessClosing(intercept({ ...call }));
    if (fault === undefined) return execute();
    if (fault.kind === 'error' && fault.when !== 'after') throw errorOf(fault);
    if (fault.kind === 'reset' && fault.when === 'before') return undefined;
    // The call is carried out; the fault replaces or delays its answer.
    const [outcome] = await Promise.allSettled([execute()]);
    if (fault.kind === 'reset') return undefined;
    if (fault.kind === 'error') throw errorOf(fault);
    await unlessClosing(fault.until);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };
}

function errorOf({ status, code, message, headers }: Fault & { readonly kind: 'error' }): AwsError {
  return new AwsError(status, code, message ?? code, {}, headers);
}
