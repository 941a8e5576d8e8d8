import type { IAMClient } from '@aws-sdk/client-iam';
import * as z from 'zod';
import { inlinePoliciesOf } from '../../local/deployment/role';
import type { StackResource, StackTemplate } from '../../local/deployment/stack-template';
import { withAws } from '../stack/aws-access';
import type { DeployedCollector } from '../stack/find-stack';
import { parsed } from './bucket-guards';
import { type ArnOfRole, policyFacts } from './canonical';
import type { Facts, Guard } from './guard';

const keySchema = z.looseObject({ KeyPolicy: z.unknown() });

/** The policies of the stack's keys, and whether the keys can be used. */
export async function keyGuards(
  template: Pick<StackTemplate, 'resourcesOf'>,
  { region }: Pick<DeployedCollector, 'region'>,
  arnOfRole: Promise<ArnOfRole>,
): Promise<Guard[]> {
  const { KMSClient, DescribeKeyCommand, GetKeyPolicyCommand } = await import('@aws-sdk/client-kms');
  const client = new KMSClient({ region });
  return template.resourcesOf('AWS::KMS::Key').map(({ logicalId: of, identity, read }) => ({
    what: 'keys',
    of,
    deployed: () => ({
      ...policyFacts(read(keySchema).KeyPolicy, new Map(), 'policy '),
      ...stateFacts(identity.arn, 'Enabled'),
    }),
    live: async () => {
      const { KeyMetadata } = await withAws(`Reading the state of ${of}`, () =>
        client.send(new DescribeKeyCommand({ KeyId: identity.arn })),
      );
      const { Policy = '{}' } = await withAws(`Reading the policy of ${of}`, () =>
        client.send(new GetKeyPolicyCommand({ KeyId: identity.arn, PolicyName: 'default' })),
      );
      return {
        ...policyFacts(parsed(Policy, of), await arnOfRole, 'policy '),
        ...stateFacts(KeyMetadata?.Arn, KeyMetadata?.KeyState),
      };
    },
  }));
}

const stateFacts = (arn = 'not said', state = 'not said'): Facts => ({ ARN: arn, state });

const roleSchema = z.looseObject({
  AssumeRolePolicyDocument: z.unknown(),
  ManagedPolicyArns: z.optional(z.array(z.string())),
  PermissionsBoundary: z.optional(z.string()),
});
const inlineSchema = z.looseObject({ PolicyName: z.string(), PolicyDocument: z.unknown() });

/** What a role is, with all its policies. */
interface RoleState {
  readonly arn: string | undefined;
  readonly trust: unknown;
  readonly boundary: string | undefined;
  readonly managed: readonly string[];
  /** Documents by the names of the policies. */
  readonly inline: Readonly<Record<string, unknown>>;
}

/** The policies of the stack's roles, and who may assume them. Beside them, the ARNs of the roles by their unique ids. */
export async function roleGuards(
  template: Pick<StackTemplate, 'resourcesOf'>,
): Promise<{ readonly guards: Guard[]; readonly arnOfRole: Promise<ArnOfRole> }> {
  const { IAMClient } = await import('@aws-sdk/client-iam');
  const client = new IAMClient({});
  const roles = template
    .resourcesOf('AWS::IAM::Role')
    .map((role) => ({ role, found: readRole(client, role.identity.ref) }));
  const guards = roles.map(
    ({ role, found }): Guard => ({
      what: 'roles',
      of: role.logicalId,
      deployed: () => roleFacts(stateInTemplate(role, template)),
      live: async () => roleFacts(await found),
    }),
  );
  // A role that could not be read is one of the guards too: that says why.
  const ids = Promise.allSettled(roles.map(({ found }) => found)).then((all) =>
    all.flatMap((one) => (one.status === 'fulfilled' ? [[one.value.id, one.value.arn ?? ''] as const] : [])),
  );
  return { guards, arnOfRole: ids.then((pairs) => new Map(pairs)) };
}

function stateInTemplate(role: StackResource, template: Pick<StackTemplate, 'resourcesOf'>): RoleState {
  const {
    AssumeRolePolicyDocument: trust,
    ManagedPolicyArns: managed = [],
    PermissionsBoundary: boundary,
  } = role.read(roleSchema);
  const own = inlinePoliciesOf(template, role).map((policy) => policy.read(inlineSchema));
  const inline = Object.fromEntries(own.map(({ PolicyName, PolicyDocument }) => [PolicyName, PolicyDocument]));
  return { arn: role.identity.arn, trust, boundary, managed, inline };
}

/** @throws AwsAccessError */
async function readRole(client: IAMClient, RoleName: string): Promise<RoleState & { readonly id: string }> {
  const { GetRoleCommand, GetRolePolicyCommand, paginateListAttachedRolePolicies, paginateListRolePolicies } =
    await import('@aws-sdk/client-iam');
  return withAws(`Reading the role ${RoleName}`, async () => {
    const { Role } = await client.send(new GetRoleCommand({ RoleName }));
    const inline: Record<string, unknown> = {};
    for await (const { PolicyNames = [] } of paginateListRolePolicies({ client }, { RoleName }))
      for (const PolicyName of PolicyNames) {
        const { PolicyDocument = '' } = await client.send(new GetRolePolicyCommand({ RoleName, PolicyName }));
        inline[PolicyName] = parsed(decodeURIComponent(PolicyDocument), `${RoleName}, ${PolicyName}`);
      }
    const managed: string[] = [];
    for await (const { AttachedPolicies = [] } of paginateListAttachedRolePolicies({ client }, { RoleName }))
      managed.push(...AttachedPolicies.map(({ PolicyArn = '' }) => PolicyArn));
    const trust = parsed(decodeURIComponent(Role?.AssumeRolePolicyDocument ?? ''), `${RoleName}, trust`);
    const boundary = Role?.PermissionsBoundary?.PermissionsBoundaryArn;
    return { id: Role?.RoleId ?? '', arn: Role?.Arn, trust, boundary, managed, inline };
  });
}

function roleFacts({ arn = 'not said', trust, boundary, managed, inline }: RoleState): Facts {
  const none: ArnOfRole = new Map();
  const ofPolicies = Object.entries(inline).map(([name, document]) => policyFacts(document, none, `policy ${name} `));
  return {
    ARN: arn,
    ...(boundary !== undefined && { 'permissions boundary': boundary }),
    ...policyFacts(trust, none, 'trust '),
    ...Object.fromEntries(managed.map((policy) => [`managed policy ${policy}`, 'attached'])),
    ...Object.fromEntries(ofPolicies.flatMap(Object.entries<string>)),
  };
}
