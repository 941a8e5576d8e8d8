import type { LifecycleRule } from '@aws-sdk/client-s3';
import type { CollectorConfig } from '../../infra/config/config';
import { runPrefixes } from '../../infra/deployed-retention';
import { parseAddress } from '../../infra/stack-address';
import { StackTemplate, UnsupportedTemplateError } from '../../local/deployment/stack-template';
import { withAws } from '../stack/aws-access';
import type { DeployedCollector } from '../stack/find-stack';
import { formatCount } from '../terminal/format';
import { bucketGuards, parsed } from './bucket-guards';
import { statementFacts } from './canonical';
import { type Check, notSeen, right, type Shown, worthKnowing, wrong } from './check';
import { compareGuards } from './guard';
import { keyGuards, roleGuards } from './key-and-role-guards';
import { rightsOf } from './rights-check';

/** Whether what protects the archive is what was deployed: policies, lifecycle, versions, Object Lock, replication, keys, roles. */

type DeployedStack = Pick<DeployedCollector, 'name' | 'place' | 'region' | 'accountId' | 'physicalIds'>;

/** Reads all that protects the archive, and compares it with the deployed template. Then asks IAM what the roles may do. */
export async function protectionChecks(collector: DeployedStack): Promise<Check[]> {
  const stack = await templateOf(collector);
  // A stack may be somebody else's, with a collector in it.
  const template: Pick<StackTemplate, 'resourcesOf'> = {
    resourcesOf: (type) => stack.resourcesOf(type).filter(({ logicalId }) => logicalId.startsWith(collector.place)),
  };
  const { guards: ofRoles, arnOfRole } = await roleGuards(template);
  const guards = [
    ...(await bucketGuards(template, collector, arnOfRole)),
    ...(await keyGuards(template, collector, arnOfRole)),
    ...ofRoles,
  ];
  const rights = await rightsOf(template).catch((error: unknown) => {
    if (!(error instanceof UnsupportedTemplateError)) throw error;
    return notSeen(error.message, 'use the version of this project that deployed the stack');
  });
  return [...(await compareGuards(guards)), { what: 'rights', ...rights }];
}

/** @throws AwsAccessError */
async function templateOf({ name, region, accountId, physicalIds }: DeployedStack): Promise<StackTemplate> {
  const stackName = parseAddress(name).stack;
  const { CloudFormationClient, GetTemplateCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ region });
  return withAws(`Reading the template of the stack ${stackName}`, async () => {
    const { TemplateBody = '' } = await client.send(new GetTemplateCommand({ StackName: stackName }));
    return new StackTemplate(JSON.parse(TemplateBody), { stackName, accountId, region }, physicalIds);
  });
}

/** Compares how long the deployed archive is kept, in days, with the configuration. */
export function retentionOf(deployed: number, { archive }: CollectorConfig): Shown {
  const { retentionDays = Number.POSITIVE_INFINITY } = archive;
  const inWords = (days: number) => (Number.isFinite(days) ? formatCount(days, 'day') : 'for ever');
  const found = `objects are kept ${inWords(deployed)}`;
  if (deployed === retentionDays) return right(found);
  const other = `${found}, by the configuration ${inWords(retentionDays)}`;
  return retentionDays < deployed
    ? wrong(other, 'a deployment would delete what is older, and is refused without -c shortenRetention=true')
    : worthKnowing(other, 'deploy, if that is meant');
}

/** Whether the policy of an existing signing key lets nobody but the audit sign. */
export async function policyOfSigningKey(region: string, keyArn: string, statement: string): Promise<Shown> {
  const { KMSClient, GetKeyPolicyCommand } = await import('@aws-sdk/client-kms');
  const { Policy = '{}' } = await withAws(`Reading the policy of ${keyArn}`, () =>
    new KMSClient({ region }).send(new GetKeyPolicyCommand({ KeyId: keyArn, PolicyName: 'default' })),
  );
  const [wanted] = Object.values(statementFacts({ Statement: JSON.parse(statement) }, new Map()));
  // Its owner may have given the statement another name.
  const live = Object.values(statementFacts(parsed(Policy, keyArn), new Map()));
  if (wanted !== undefined && live.includes(wanted)) return right('nobody but the audit may sign');
  return wrong('others than the audit may sign, or the audit may not', `add to its policy: ${statement}`);
}

/** Whether the copy expires as the archive does: S3 copies no lifecycle. */
export async function lifecycleOfCopy(bucketArn: string, days: number): Promise<Shown> {
  const { S3Client, GetBucketLifecycleConfigurationCommand } = await import('@aws-sdk/client-s3');
  const Bucket = bucketArn.split(':').at(-1) ?? '';
  const rules: LifecycleRule[] = await withAws(`Reading the lifecycle of ${Bucket}`, async () => {
    const client = new S3Client({ followRegionRedirects: true });
    const answer = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket })).catch((error: Error) => {
      if (error.name === 'NoSuchLifecycleConfiguration') return { Rules: [] };
      throw error;
    });
    return answer.Rules ?? [];
  });
  const missing = runPrefixes.filter(
    (prefix) =>
      !rules.some(
        ({ Status, Filter, Expiration }) =>
          Status === 'Enabled' && (Filter?.Prefix ?? '') === prefix && Expiration?.Days === days,
      ),
  );
  if (missing.length === 0)
    return right(`the copy in ${Bucket} expires after ${formatCount(days, 'day')}, as the archive`);
  return worthKnowing(
    `the copy in ${Bucket} does not expire after ${formatCount(days, 'day')} below ${missing.join(', ')}`,
    'give it the lifecycle that `npm run synth` prints',
  );
}
