import { conditionHolds } from './condition-operators';
import { asArray, type OneOrMany, type PolicyDocument, type PolicyStatement, statementsOf } from './policy-document';
import { matchesWildcard } from './wildcard';

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

/**
 * Decides one call as IAM does within one account: an explicit deny wins, otherwise one allow suffices, from the
 * principal's policies or the resource's.
 * @throws UnknownPolicyElementError for a policy that holds anything whose meaning is not known here
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
  const { Action, NotAction, Resource, NotResource, Condition = {} } = statement;
  return (
    principalApplies(statement, request.principalArn) &&
    // Action names ignore case, resources do not.
    listApplies(lower(Action), lower(NotAction), request.action.toLowerCase()) &&
    listApplies(Resource, NotResource, request.resource) &&
    Object.entries(Condition).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) =>
        conditionHolds(operator, contextValues(request.context, key), asArray(values).map(String)),
      ),
    )
  );
}

function principalApplies({ Principal, Effect }: PolicyStatement, principalArn: string): boolean {
  // Only a resource's policy names principals; one without applies to whom it is attached.
  if (Principal === undefined || Principal === '*') return true;
  const account = principalArn.split(':')[4] ?? '';
  return asArray(Principal.AWS).some((name) => {
    if (name === '*' || name === principalArn) return true;
    // A whole account: to allow it hands the decision to the account's own policies, to deny it reaches everyone in it.
    return Effect === 'Deny' && (name === account || (name.startsWith('arn:') && name.endsWith(`::${account}:root`)));
  });
}

function listApplies(positive: OneOrMany | undefined, negative: OneOrMany | undefined, text: string): boolean {
  const matches = asArray(positive ?? negative).some((pattern) => matchesWildcard(pattern, text));
  return positive === undefined ? !matches : matches;
}

function lower(list: OneOrMany | undefined): OneOrMany | undefined {
  return list === undefined ? undefined : asArray(list).map((name) => name.toLowerCase());
}

function contextValues(context: RequestContext, key: string): readonly string[] | undefined {
  const wanted = key.toLowerCase();
  const name = Object.keys(context).find((candidate) => candidate.toLowerCase() === wanted);
  const value = name === undefined ? undefined : context[name];
  return value === undefined ? undefined : asArray(value);
}

/** What the policies may ask about any call. */
export function commonContext(principalArn: string, accountId: string, region: string, now: number): RequestContext {
  return {
    'aws:PrincipalArn': principalArn,
    'aws:PrincipalAccount': principalArn.split(':')[4] ?? '',
    'aws:ResourceAccount': accountId,
    'aws:RequestedRegion': region,
    // Nothing leaves the machine, so there is no wire to protect: the same policies must admit the same calls here.
    'aws:SecureTransport': 'true',
    'aws:ViaAWSService': 'false',
    'aws:PrincipalIsAWSService': 'false',
    'aws:CurrentTime': new Date(now).toISOString(),
    'aws:EpochTime': String(Math.floor(now / 1000)),
  };
}
