import * as z from 'zod';
import { type Caller, refusalOf } from '../aws/iam/authorize';
import { type RolePolicy, rolePolicySchema, trustPolicySchema } from '../aws/iam/policy-document';
import { type StackResource, type StackTemplate, UnsupportedTemplateError } from './stack-template';

/** Strict: what a managed policy permits is not in the template. */
const roleSchema = z.strictObject({ AssumeRolePolicyDocument: trustPolicySchema });
const ignored = ['Description', 'MaxSessionDuration', 'Path', 'RoleName', 'Tags'];

const attachedSchema = z.object({ Roles: z.array(z.string()).default([]) });
const documentSchema = z.object({ PolicyDocument: rolePolicySchema });

/**
 * A role of the template with all its policies.
 * @param service that acts as the role, such as `lambda.amazonaws.com`
 * @param sourceArn ARN of the resource on whose behalf it acts
 * @throws UnsupportedTemplateError if the service may not assume the role, or a policy of the role is not in the template
 */
export function readRole(stack: StackTemplate, arn: string, service: string, sourceArn: string): Caller {
  const resource = stack.resourcesOf('AWS::IAM::Role').find(({ identity }) => identity.arn === arn);
  if (resource === undefined) throw new UnsupportedTemplateError(`Cannot find the role ${arn} in the template.`);
  const role = resource.read(roleSchema, ignored);
  // What trusts the service, written as a policy of the role that admits everybody.
  const trust = role.AssumeRolePolicyDocument.Statement.filter(({ Principal }) => Principal.Service.includes(service));
  const everybody = { Principal: { AWS: ['*'], Service: [] }, Resource: ['*'] };
  const refusal = refusalOf(
    { arn, policies: [] },
    {
      action: 'sts:AssumeRole',
      resource: arn,
      resourcePolicy: { Statement: trust.map((statement) => ({ ...statement, ...everybody })) },
      context: { 'aws:SourceAccount': stack.location.accountId, 'aws:SourceArn': sourceArn },
    },
  );
  if (refusal !== undefined)
    throw new UnsupportedTemplateError(
      `Cannot run as ${resource.logicalId}: the role does not let ${service} assume it for ${sourceArn}.`,
    );
  return { arn, policies: policiesOf(stack, resource) };
}

/** What the template allows a role. */
export function policiesOf(stack: Pick<StackTemplate, 'resourcesOf'>, role: StackResource): RolePolicy[] {
  return inlinePoliciesOf(stack, role).map((policy) => policy.read(documentSchema).PolicyDocument);
}

/** The resources of the template that are policies of a role. */
export function inlinePoliciesOf(
  stack: Pick<StackTemplate, 'resourcesOf'>,
  { identity: { ref } }: StackResource,
): StackResource[] {
  return stack.resourcesOf('AWS::IAM::Policy').filter((policy) => policy.read(attachedSchema).Roles.includes(ref));
}
