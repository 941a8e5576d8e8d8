import type { PropertyDifference } from '@aws-sdk/client-cloudformation';
import type { LifecycleRule } from '@aws-sdk/client-s3';
import type { CollectorConfig } from '../../infra/config/config';
import { withAws } from '../stack/aws-access';
import type { DeployedCollector } from '../stack/find-stack';
import { formatCount } from '../terminal/format';
import { ok, problem, type Shown, warning } from './check';

/** Whether what protects the archive is what was deployed: policies, lifecycle, versions, Object Lock, keys. */

const bringBack =
  'bring it back with `npm run deploy -- --revert-drift`; a plain deployment does not, if the template is the same';

/** Longest value of a difference that is shown, in characters. */
const shownCharacters = 160;

/** Asks CloudFormation to compare the buckets, their policies and the keys with the deployed template. */
export async function driftOf({ name, region, guards }: DeployedCollector): Promise<Shown> {
  const { CloudFormationClient, DetectStackResourceDriftCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ region });
  const differences: string[] = [];
  for (const LogicalResourceId of guards) {
    const { StackResourceDrift: drift } = await withAws(`Comparing ${LogicalResourceId} with the template`, () =>
      client.send(new DetectStackResourceDriftCommand({ StackName: name, LogicalResourceId })),
    );
    if (drift?.StackResourceDriftStatus === 'DELETED') differences.push(`${LogicalResourceId}: it was deleted`);
    for (const one of drift?.PropertyDifferences ?? []) differences.push(`${LogicalResourceId}${textOf(one)}`);
  }
  if (differences.length === 0)
    return ok(
      `none: ${formatCount(guards.length, 'bucket, policy or key', 'buckets, policies and keys')} are as deployed`,
    );
  return problem(differences.join('\n'), bringBack);
}

function textOf({ PropertyPath, ExpectedValue, ActualValue }: PropertyDifference): string {
  const [expected, actual] = [ExpectedValue, ActualValue].map((value = 'nothing') =>
    value.length > shownCharacters ? `${value.slice(0, shownCharacters)}…` : value,
  );
  return `${PropertyPath}: deployed ${expected}, found ${actual}`;
}

/** Compares how long the deployed archive is kept, in days, with the configuration. */
export function retentionOf(deployed: number, { archive }: CollectorConfig): Shown {
  const { retentionDays = Number.POSITIVE_INFINITY } = archive;
  const inWords = (days: number) => (Number.isFinite(days) ? formatCount(days, 'day') : 'for ever');
  const found = `objects are kept ${inWords(deployed)}`;
  if (deployed === retentionDays) return ok(found);
  const other = `${found}, by the configuration ${inWords(retentionDays)}`;
  return retentionDays < deployed
    ? problem(other, 'a deployment would delete what is older, and is refused without -c shortenRetention=true')
    : warning(other, 'deploy, if that is meant');
}

/** Whether the policy of an existing signing key lets nobody but the audit sign. */
export async function policyOfSigningKey(region: string, keyArn: string, statement: string): Promise<Shown> {
  const { KMSClient, GetKeyPolicyCommand } = await import('@aws-sdk/client-kms');
  const { Policy = '{}' } = await withAws(`Reading the policy of ${keyArn}`, () =>
    new KMSClient({ region }).send(new GetKeyPolicyCommand({ KeyId: keyArn, PolicyName: 'default' })),
  );
  const { Statement = [] } = JSON.parse(Policy) as { Statement?: object[] };
  const { Sid: _, ...wanted } = JSON.parse(statement) as Record<string, unknown>;
  const isThere = Statement.some((one) =>
    Object.entries(wanted).every(
      ([member, value]) => JSON.stringify([value].flat()) === JSON.stringify([(one as typeof wanted)[member]].flat()),
    ),
  );
  if (isThere) return ok('nobody but the audit may sign');
  return problem('others than the audit may sign, or the audit may not', `add to its policy: ${statement}`);
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
  const missing = ['logs/', 'manifests/', 'runs/'].filter(
    (prefix) =>
      !rules.some(
        ({ Status, Filter, Expiration }) =>
          Status === 'Enabled' && (Filter?.Prefix ?? '') === prefix && Expiration?.Days === days,
      ),
  );
  if (missing.length === 0)
    return ok(`the copy in ${Bucket} expires after ${formatCount(days, 'day')}, as the archive`);
  return warning(
    `the copy in ${Bucket} does not expire after ${formatCount(days, 'day')} below ${missing.join(', ')}`,
    'give it the lifecycle that `npm run synth` prints',
  );
}
