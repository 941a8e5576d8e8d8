import type { PolicyDocument } from './policy-document';

export type { PolicyDocument, PolicyStatement } from './policy-document';

/** What is known about a call, by condition key; an absent key is absent for the policies too. Keys ignore case. */
export type RequestContext = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface AuthorizationRequest {
  readonly identityPolicies: readonly PolicyDocument[];
  readonly resourcePolicy?: PolicyDocument | undefined;
  /** ARN of the role or user; for an assumed role the role's own. */
  readonly principalArn: string;
  /** `s3:PutObject`. */
  readonly action: string;
  readonly resource: string;
  readonly context: RequestContext;
}

export interface Authorization {
  readonly allowed: boolean;
  /** Why, as the service words it: `because no identity-based policy allows the s3:PutObject action`. */
  readonly reason: string;
}

/** Decides one call as IAM does within one account. */
export function authorize(_request: AuthorizationRequest): Authorization {
  throw new Error('not written yet');
}
