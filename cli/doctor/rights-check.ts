import type { ContextEntry, IAMClient, SimulatePrincipalPolicyCommandInput } from '@aws-sdk/client-iam';
import { configurationsPrefix, sealsPrefix } from '../../archive/format/keys';
import { runPrefixes } from '../../infra/deployed-retention';
import { matchesWildcard } from '../../local/aws/iam/condition-operators';
import type { RolePolicy } from '../../local/aws/iam/policy-document';
import { policiesOf } from '../../local/deployment/role';
import {
  type StackResource,
  type StackTemplate,
  UnsupportedTemplateError,
} from '../../local/deployment/stack-template';
import { AwsAccessError, withAws } from '../stack/aws-access';
import { formatCount } from '../terminal/format';
import type { Shown } from './check';
import { shown } from './guard';

/** What IAM is asked of one role in one call: some actions on some resources, all of which it may do, or may not. */
interface Question {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly context: readonly ContextEntry[];
  readonly may: boolean;
}

/** What would change or remove what is archived, or what protects it. */
const onObjects = [
  ...['s3:PutObject', 's3:DeleteObject', 's3:DeleteObjectVersion', 's3:BypassGovernanceRetention'],
  ...['s3:PutObjectRetention', 's3:ReplicateObject', 's3:ReplicateDelete', 's3:UpdateObjectEncryption'],
];
const onBuckets = [
  ...['s3:PutBucketPolicy', 's3:DeleteBucketPolicy', 's3:PutLifecycleConfiguration', 's3:PutBucketVersioning'],
  ...['s3:PutBucketObjectLockConfiguration', 's3:PutReplicationConfiguration', 's3:DeleteBucket'],
];
const onKeys = ['kms:Sign', 'kms:PutKeyPolicy', 'kms:DisableKey', 'kms:ScheduleKeyDeletion'];

/**
 * Asks IAM whether each role of the stack may do what it has to, and may not do what would harm the archive: the policies of
 * the organisation and permissions boundaries count, which no template shows.
 */
export async function rightsOf(template: Pick<StackTemplate, 'resourcesOf'>): Promise<Shown> {
  const { IAMClient } = await import('@aws-sdk/client-iam');
  const client = new IAMClient({});
  const roles = template.resourcesOf('AWS::IAM::Role');
  const found = await Promise.all(roles.map((role) => rightsOfRole(client, role, questionsOf(role, template))));
  const asked = found.reduce((sum, { asked }) => sum + asked, 0);
  return shown(
    found.flatMap(({ differences }) => differences),
    found.flatMap(({ unseen }) => unseen),
    `IAM gives ${formatCount(roles.length, 'role')} what they need, and nothing of what would harm the archive (${formatCount(asked, 'question')})`,
    'find out who changed a policy of the role, its boundary or a policy of the organisation; docs/pipeline.md, "Who deploys"',
  );
}

/** @throws UnsupportedTemplateError */
function questionsOf(role: StackResource, template: Pick<StackTemplate, 'resourcesOf'>): Question[] {
  const allowed = policiesOf(template, role)
    .flatMap(({ Statement }) => Statement)
    .filter(({ Effect }) => Effect === 'Allow');
  const needed = allowed.map(({ Action, Resource, Condition }) => ({
    actions: Action.map(example),
    resources: Resource.map((resource) => (resource === '*' ? '*' : example(resource))),
    context: contextOf(Condition),
    may: true,
  }));
  const mayOwn = (action: string, resource: string) =>
    allowed.some(
      ({ Action, Resource }) =>
        Action.some((pattern) => matchesWildcard(pattern, action)) &&
        Resource.some((pattern) => matchesWildcard(pattern, resource)),
    );
  // By what it may not do there: such resources share a call.
  const harmful = new Map<string, string[]>();
  for (const { actions, resource } of harmfulIn(template)) {
    const others = actions.filter((action) => !mayOwn(action, resource)).join();
    if (others !== '') harmful.set(others, [...(harmful.get(others) ?? []), resource]);
  }
  const refused = [...harmful].map(([actions, resources]) => ({
    ...{ actions: actions.split(','), resources, context: [], may: false },
  }));
  return [...needed, ...refused];
}

function harmfulIn(
  template: Pick<StackTemplate, 'resourcesOf'>,
): { readonly actions: readonly string[]; readonly resource: string }[] {
  const arns = (type: string) => template.resourcesOf(type).map(({ identity }) => identity.arn);
  const buckets = arns('AWS::S3::Bucket');
  const prefixes = [...runPrefixes, configurationsPrefix, sealsPrefix];
  return [
    ...buckets.map((resource) => ({ actions: onBuckets, resource })),
    ...buckets.flatMap((bucket) =>
      prefixes.map((prefix) => ({ actions: onObjects, resource: `${bucket}/${prefix}x` })),
    ),
    ...arns('AWS::KMS::Key').map((resource) => ({ actions: onKeys, resource })),
  ];
}

/** Something that a pattern matches. */
const example = (pattern: string) => pattern.replace(/[*?]/g, 'x');

/** A request that a statement is for. @throws UnsupportedTemplateError */
function contextOf(condition: RolePolicy['Statement'][number]['Condition']): ContextEntry[] {
  return Object.entries(condition).flatMap(([operator, keys]) => {
    if (!/^(StringEquals|StringLike|ArnEquals|ArnLike)$/.test(operator))
      throw new UnsupportedTemplateError(`Cannot ask IAM for a right under the condition ${operator}.`);
    return Object.entries(keys).map(([ContextKeyName, [value = '']]) => ({
      ...{ ContextKeyName, ContextKeyValues: [example(value)], ContextKeyType: 'string' as const },
    }));
  });
}

async function rightsOfRole(client: IAMClient, { logicalId, identity }: StackResource, questions: readonly Question[]) {
  const differences: string[] = [];
  const unseen: string[] = [];
  for (const question of questions) {
    const ask = withAws(`Asking IAM what ${logicalId} may do`, () => decisionsOn(client, identity.arn, question));
    const decisions = await ask.catch((error: unknown) => {
      if (!(error instanceof AwsAccessError)) throw error;
      unseen.push(error.message);
      return undefined;
    });
    // What one call is refused for, the next ones are too.
    if (decisions === undefined) break;
    const { actions, resources, may } = question;
    for (const action of actions)
      for (const resource of resources) {
        const { verdict, text } = judge(decisions.get(nameOf(action, resource)), may);
        const line = `${logicalId} ${may ? 'has to be allowed' : 'must not be allowed'} ${action} on ${resource}: ${text}`;
        if (verdict === 'wrong') differences.push(line);
        if (verdict === 'not seen') unseen.push(line);
      }
  }
  return {
    differences,
    unseen,
    asked: questions.reduce((sum, { actions, resources }) => sum + actions.length * resources.length, 0),
  };
}

/** What IAM decided about one action. */
interface Decision {
  readonly decision: string;
  /** Keys of conditions that the question did not have: a refusal may rest on their absence. */
  readonly missing: readonly string[];
}

/** Actions ignore case. */
const nameOf = (action: string, resource: string) => `${action.toLowerCase()} ${resource}`;

async function decisionsOn(client: IAMClient, role: string, { actions, resources, context }: Question) {
  const { paginateSimulatePrincipalPolicy } = await import('@aws-sdk/client-iam');
  const input: SimulatePrincipalPolicyCommandInput = {
    PolicySourceArn: role,
    ActionNames: [...actions],
    ResourceArns: [...resources],
    ContextEntries: [...context],
  };
  const decisions = new Map<string, Decision>();
  for await (const { EvaluationResults = [] } of paginateSimulatePrincipalPolicy({ client }, input))
    for (const one of EvaluationResults) {
      const { EvalActionName: action = '', EvalResourceName = '', ResourceSpecificResults = [] } = one;
      const missing = one.MissingContextValues ?? [];
      decisions.set(nameOf(action, EvalResourceName), { decision: one.EvalDecision ?? 'no decision', missing });
      // Of several resources IAM says it once more for each.
      for (const {
        EvalResourceName = '',
        EvalResourceDecision,
        MissingContextValues = missing,
      } of ResourceSpecificResults)
        decisions.set(nameOf(action, EvalResourceName), {
          decision: EvalResourceDecision ?? 'no decision',
          missing: MissingContextValues,
        });
    }
  return decisions;
}

function judge(decided: Decision | undefined, may: boolean): Pick<Shown, 'verdict'> & { readonly text: string } {
  if (decided === undefined) return { verdict: 'not seen', text: 'IAM did not answer' };
  const { decision, missing } = decided;
  const text = missing.length === 0 ? decision : `${decision}, without a value of ${missing.join(', ')}`;
  if (decision === 'allowed') return { verdict: may ? 'right' : 'wrong', text };
  if (decision !== 'implicitDeny' && decision !== 'explicitDeny') return { verdict: 'not seen', text };
  if (!may) return { verdict: 'right', text };
  return { verdict: missing.length === 0 ? 'wrong' : 'not seen', text };
}
