import { Aws } from 'aws-cdk-lib';
import { type IRole, PolicyStatement, type PolicyStatementProps } from 'aws-cdk-lib/aws-iam';

/** Adds one statement to the policy of a role. */
export function allow(
  role: IRole,
  sid: string,
  actions: string[],
  resources: string[],
  conditions?: PolicyStatementProps['conditions'],
): void {
  role.addToPrincipalPolicy(new PolicyStatement({ sid, actions, resources, ...(conditions && { conditions }) }));
}

/** The condition that a role uses a key only through a service, such as `s3`, and in one region; left out: the stack's. */
export function through(service: string, region: string = Aws.REGION) {
  return { StringEquals: { 'kms:ViaService': `${service}.${region}.${Aws.URL_SUFFIX}` } };
}
