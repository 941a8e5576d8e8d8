import type { EndpointHooks } from '../../local/aws/aws-endpoint';
import { AwsError } from '../../local/aws/call';

type AroundCall = NonNullable<EndpointHooks['around']>;

/** A call as a test sees it before it has any effect. */
export type InterceptedRequest = Parameters<AroundCall>[0];

/** What goes wrong with an authorised call. */
export type Fault =
  /** The call has no effect. */
  | {
      readonly kind: 'error';
      readonly status: number;
      /** The service's error code: `SlowDown`, `AccessDenied`, `ConditionalRequestConflict`, `ThrottlingException`. */
      readonly code: string;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** `after`: the call is carried out, and only its answer is lost. */
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' };

/** Chooses the fault of a call; undefined: none. A promise holds the call back. */
export type Intercept = (request: InterceptedRequest) => Fault | undefined | Promise<Fault | undefined>;

/** Makes calls to the embedded endpoint fail. What holds a call back lets it go when the endpoint closes. */
export function injectFaults(intercept: Intercept): AroundCall {
  return async (call, execute, closing) => {
    const fault = await Promise.race([intercept({ ...call }), closing]);
    if (fault === undefined) return execute();
    if (fault.kind === 'error')
      throw new AwsError(fault.status, fault.code, fault.message ?? fault.code, fault.headers);
    if (fault.when === 'after') await execute();
    return undefined;
  };
}
