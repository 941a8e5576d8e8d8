import { Aws } from 'aws-cdk-lib';
import { AnyPrincipal, ArnPrincipal, Effect, type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';

export type Conditions = Record<string, Record<string, unknown>>;

/** Adds one statement to the policy of a role. */
export function allow(
  role: IRole,
  sid: string | undefined,
  actions: string[],
  resources: string[],
  conditions?: Conditions,
): void {
  role.addToPrincipalPolicy(new PolicyStatement({ sid, actions, resources, ...(conditions && { conditions }) }));
}

/**
 * Adds to the policy of a bucket or a key what it refuses, whatever the policies of the roles allow.
 * @param who the role that it is refused to, or everybody
 */
export function refuse(
  owner: { addToResourcePolicy(statement: PolicyStatement): unknown },
  sid: string,
  who: IRole | 'everybody',
  actions: string[],
  resources: string[],
  conditions?: Conditions,
): void {
  owner.addToResourcePolicy(refusal(sid, who, actions, resources, conditions));
}

/** The statement of {@link refuse}. */
export function refusal(
  sid: string,
  who: IRole | 'everybody',
  actions: string[],
  resources: string[],
  conditions?: Conditions,
): PolicyStatement {
  const principals = [who === 'everybody' ? new AnyPrincipal() : new ArnPrincipal(who.roleArn)];
  const props = { sid, effect: Effect.DENY, principals, actions, resources, ...(conditions && { conditions }) };
  return new PolicyStatement(props);
}

/** The condition that a role uses a key only through a service, such as `s3`, and in one region; left out: the stack's. */
export function through(service: string, region: string = Aws.REGION) {
  return { StringEquals: { 'kms:ViaService': `${service}.${region}.${Aws.URL_SUFFIX}` } };
}
