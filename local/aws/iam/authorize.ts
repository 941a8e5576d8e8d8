import { conditionOperators, matchesWildcard } from './condition-operators';
import type { ResourcePolicy, RolePolicy, Statement } from './policy-document';

/** Who calls: a role, for an assumed one the role itself, or a user. */
export interface Caller {
  readonly arn: string;
  readonly policies: readonly RolePolicy[];
}

/** What is known about a call, by condition key. Keys ignore case; a key that is absent here is absent for the policies. */
export type RequestContext = Readonly<Record<string, string>>;

export interface Access {
  /** `s3:PutObject`. */
  readonly action: string;
  /** ARN. */
  readonly resource: string;
  readonly resourcePolicy?: ResourcePolicy | undefined;
  /** Beside what every call has: the caller, and TLS. */
  readonly context?: RequestContext;
}

/** A key of KMS that encrypts what lies in a bucket or a topic. Nothing is encrypted here. */
export interface EncryptionKey {
  readonly arn: string;
  /** Undefined: not known, so that the caller's policies decide, as they do under a key's default policy. */
  readonly policy: ResourcePolicy | undefined;
}

/**
 * The use of a key through a service; undefined if nothing is encrypted.
 * @param action `kms:Decrypt`
 * @param service with its region: `s3.eu-central-1`
 */
export function useOfKey(key: EncryptionKey | undefined, action: string, service: string): Access | undefined {
  if (key === undefined) return undefined;
  const context = { 'kms:ViaService': `${service}.amazonaws.com` };
  return { action, resource: key.arn, resourcePolicy: key.policy, context };
}

/** The first refusal of a call that needs several permissions. An access that is undefined needs none. */
export function refusalOfAny(caller: Caller, accesses: readonly (Access | undefined)[]): string | undefined {
  return accesses.map((access) => access && refusalOf(caller, access)).find((refusal) => refusal !== undefined);
}

/**
 * Decides one call as IAM does within one account: an explicit deny wins, otherwise one allow suffices, from the
 * caller's policies or the resource's.
 * @returns why it is refused, in the service's words: `User: … is not authorized to perform: s3:PutObject on resource: …
 * because no identity-based policy allows the s3:PutObject action`; undefined if it is allowed
 */
export function refusalOf(caller: Caller, access: Access): string | undefined {
  const { action, resource, resourcePolicy } = access;
  const context = {
    'aws:PrincipalArn': caller.arn,
    // The calls stay on this machine and need no TLS; the policies must admit the same calls here as in the cloud.
    'aws:SecureTransport': 'true',
    ...access.context,
  };
  const applying = (statements: readonly Statement[], effect: Statement['Effect']): boolean =>
    statements.some((statement) => statement.Effect === effect && applies(statement, caller.arn, access, context));
  const identity = caller.policies.flatMap(({ Statement }) => Statement);
  const ofResource = resourcePolicy?.Statement ?? [];

  const refused = (reason: string) =>
    `User: ${caller.arn} is not authorized to perform: ${action} on resource: ${resource} ${reason}`;
  if (applying(identity, 'Deny')) return refused('with an explicit deny in an identity-based policy');
  if (applying(ofResource, 'Deny')) return refused('with an explicit deny in a resource-based policy');
  if (applying(identity, 'Allow') || applying(ofResource, 'Allow')) return undefined;
  return refused(`because no identity-based policy allows the ${action} action`);
}

function applies(
  statement: Statement,
  callerArn: string,
  { action, resource }: Access,
  context: RequestContext,
): boolean {
  const { Action, Resource, Condition } = statement;
  return (
    principalApplies(statement, callerArn) &&
    // Action names ignore case, resources do not.
    Action.some((pattern) => matchesWildcard(pattern.toLowerCase(), action.toLowerCase())) &&
    Resource.some((pattern) => matchesWildcard(pattern, resource)) &&
    Object.entries(conditionOperators).every(([operator, holds]) =>
      Object.entries(Condition[operator as keyof typeof Condition] ?? {}).every(([key, values]) =>
        holds(contextValue(context, key), values),
      ),
    )
  );
}

function principalApplies({ Principal, Effect }: Statement, callerArn: string): boolean {
  // Only a resource's policy names principals. A role's policy applies to the role.
  if (Principal === undefined) return true;
  const account = callerArn.split(':')[4];
  return Principal.AWS.some((name) => {
    if (name === '*' || name === callerArn) return true;
    // A whole account: an allow leaves the decision to the account's own policies, a deny reaches everyone in it.
    return Effect === 'Deny' && (name === account || (name.startsWith('arn:') && name.endsWith(`::${account}:root`)));
  });
}

function contextValue(context: RequestContext, key: string): string | undefined {
  const wanted = key.toLowerCase();
  return Object.entries(context).find(([name]) => name.toLowerCase() === wanted)?.[1];
}
