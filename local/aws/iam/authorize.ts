import { conditionHolds, matchesWildcard } from './condition-operators';
import { asArray, type PolicyDocument, type PolicyStatement, statementsOf } from './policy-document';

/** What is known about a call, by condition key. Keys ignore case; a key that is absent here is absent for the policies. */
export type RequestContext = Readonly<Record<string, string>>;

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
  /** Why, in the service's words: `because no identity-based policy allows the s3:PutObject action`. */
  readonly reason: string;
}

/**
 * Decides one call as IAM does within one account: an explicit deny wins, otherwise one allow suffices, from the
 * principal's policies or the resource's.
 * @throws UnknownPolicyElementError for a policy with anything whose meaning is not known here
 */
export function authorize(request: AuthorizationRequest): Authorization {
  const { identityPolicies, resourcePolicy, action } = request;
  const identity = identityPolicies.flatMap((policy) => statementsOf(policy, 'identity'));
  const resource = resourcePolicy === undefined ? [] : statementsOf(resourcePolicy, 'resource');
  const applying = (statements: readonly PolicyStatement[], effect: PolicyStatement['Effect']): boolean =>
    statements.some((statement) => statement.Effect === effect && applies(statement, request));

  if (applying(identity, 'Deny')) return denied('with an explicit deny in an identity-based policy');
  if (applying(resource, 'Deny')) return denied('with an explicit deny in a resource-based policy');
  if (applying(identity, 'Allow')) return { allowed: true, reason: 'an identity-based policy allows it' };
  if (applying(resource, 'Allow')) return { allowed: true, reason: 'a resource-based policy allows it' };
  return denied(`because no identity-based policy allows the ${action} action`);
}

function denied(reason: string): Authorization {
  return { allowed: false, reason };
}

function applies(statement: PolicyStatement, request: AuthorizationRequest): boolean {
  const { Action, Resource, Condition = {} } = statement;
  const action = request.action.toLowerCase();
  return (
    principalApplies(statement, request.principalArn) &&
    // Action names ignore case, resources do not.
    asArray(Action).some((pattern) => matchesWildcard(pattern.toLowerCase(), action)) &&
    asArray(Resource).some((pattern) => matchesWildcard(pattern, request.resource)) &&
    Object.entries(Condition).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) =>
        conditionHolds(operator, contextValue(request.context, key), asArray(values).map(String)),
      ),
    )
  );
}

function principalApplies({ Principal, Effect }: PolicyStatement, principalArn: string): boolean {
  // Only a resource's policy names principals. A role's policy applies to the role.
  if (Principal === undefined || Principal === '*') return true;
  const account = principalArn.split(':')[4] ?? '';
  return asArray(Principal.AWS).some((name) => {
    if (name === '*' || name === principalArn) return true;
    // A whole account: an allow leaves the decision to the account's own policies, a deny reaches everyone in it.
    return Effect === 'Deny' && (name === account || (name.startsWith('arn:') && name.endsWith(`::${account}:root`)));
  });
}

function contextValue(context: RequestContext, key: string): string | undefined {
  const wanted = key.toLowerCase();
  return Object.entries(context).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

/** What policies may ask about any call. */
export function commonContext(principalArn: string, accountId: string): RequestContext {
  return {
    'aws:PrincipalArn': principalArn,
    'aws:PrincipalAccount': principalArn.split(':')[4] ?? '',
    'aws:ResourceAccount': accountId,
    // The calls stay on this machine and need no TLS; the policies must admit the same calls here as in the cloud.
    'aws:SecureTransport': 'true',
  };
}
