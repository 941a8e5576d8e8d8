import { Aws } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, type IPrincipal, type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';

export type Conditions = Record<string, Record<string, unknown>>;

/** Adds one statement to the policy of a role. */
export function allow(
  role: IRole,
  sid: string | undefined,
  actions: string[],
  resources: string[],
  conditions?: Conditions,
): void {
  role.addToPrincipalPolicy(new PolicyStatement({ sid, actions, resources, conditions }));
}

export const everybody = new AnyPrincipal();

/** For the policy of a bucket or a key: what it refuses, whatever the policies of the roles allow. */
export function refusal(
  sid: string,
  who: IPrincipal,
  actions: string[],
  resources: string[],
  conditions?: Conditions,
): PolicyStatement {
  return new PolicyStatement({ sid, effect: Effect.DENY, principals: [who], actions, resources, conditions });
}

/** The condition that a role uses a key only through a service, such as `s3`, and in one region; left out: the stack's. */
export function through(service: string, region: string = Aws.REGION) {
  return { StringEquals: { 'kms:ViaService': `${service}.${region}.${Aws.URL_SUFFIX}` } };
}
