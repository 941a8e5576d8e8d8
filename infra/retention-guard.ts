import type { CloudFormationClient, CloudFormationClientConfig } from '@aws-sdk/client-cloudformation';
import type { LifecycleRule } from '@aws-sdk/client-s3';
import type { STSClient } from '@aws-sdk/client-sts';
import { type CollectorConfig, ConfigError } from './config/config';
import { retentionIn, runPrefixes } from './deployed-retention';

/** Where a deployment goes. What is undefined, nobody has said. */
export interface DeploymentTarget {
  readonly account: string | undefined;
  readonly region: string | undefined;
  /** Part of the names of the roles that `cdk bootstrap` makes. */
  readonly qualifier: string;
}

/** In which region it is asked, and as whom; without credentials with those of the environment. */
type Access = Pick<CloudFormationClientConfig, 'credentials'> & { readonly region: string };

/**
 * Refuses to deploy a shorter retention than the deployed one: S3 applies it to what is archived already. It refuses too if
 * nobody can say what is deployed.
 * @param target of the command line; what the configuration names goes before it
 * @throws ConfigError
 */
export async function refuseShorterRetention(
  { name, archive, deployTo }: CollectorConfig,
  target: DeploymentTarget,
  file: string,
): Promise<void> {
  const { retentionDays } = archive;
  // Nothing expires: then nothing expires sooner than before.
  if (retentionDays === undefined) return;
  const refusal = (expected: string) =>
    new ConfigError(file, [{ path: 'archive.retentionDays', received: String(retentionDays), expected }]);
  const deployed = await deployedRetention(name, { ...target, ...deployTo }).catch((error: Error) => {
    throw refusal(
      `no fewer days than are deployed, and nobody could say how many are: ${error.message} ` +
        '(docs/pipeline.md, "Who deploys"). If you are sure that these are not fewer: -c shortenRetention=true',
    );
  });
  if (deployed === undefined || retentionDays >= deployed) return;
  throw refusal(
    `${Number.isFinite(deployed) ? `at least ${deployed}, as deployed` : 'nothing, as deployed: nothing expires'}. ` +
      'S3 would hide older objects at the next midnight and delete them 30 days later. If you mean it: -c shortenRetention=true',
  );
}

/**
 * Asks the account that is deployed to: with the credentials of the environment if they are of this account, otherwise, or
 * if they may not ask, as the role that the bootstrap made for lookups.
 * @returns undefined: there is no archive yet
 */
async function deployedRetention(stack: string, target: DeploymentTarget): Promise<number | undefined> {
  const { account, region, qualifier } = target;
  if (account === undefined || region === undefined)
    throw new Error(
      'neither the configuration (deployTo) nor credentials say which account and region are deployed to',
    );
  const { STSClient, GetCallerIdentityCommand } = await import('@aws-sdk/client-sts');
  const sts = new STSClient({ region, maxAttempts: 2 });
  const { Account: own = 'an unknown account' } = await asking(
    'asking whose the credentials of the environment are',
    () => sts.send(new GetCallerIdentityCommand({})),
  );
  let refused = `the credentials of the environment are of ${own}, and ${account} is deployed to`;
  if (own === account)
    try {
      return await retentionInAccount(stack, { region });
    } catch (error) {
      refused = (error as Error).message;
    }
  try {
    return await retentionInAccount(stack, {
      region,
      credentials: await lookupCredentials(sts, account, region, qualifier),
    });
  } catch (error) {
    throw new Error(`${refused}; ${(error as Error).message}`, { cause: error });
  }
}

/** The role has the policy ReadOnlyAccess, and trusts the account of the bootstrap and those that `--trust-for-lookup` named. */
async function lookupCredentials(sts: STSClient, account: string, region: string, qualifier: string) {
  const { AssumeRoleCommand } = await import('@aws-sdk/client-sts');
  const RoleArn = `arn:aws:iam::${account}:role/cdk-${qualifier}-lookup-role-${account}-${region}`;
  const command = new AssumeRoleCommand({ RoleArn, RoleSessionName: 'deployed-retention' });
  const { Credentials } = await asking(`assuming ${RoleArn}`, () => sts.send(command));
  const {
    AccessKeyId: accessKeyId = '',
    SecretAccessKey: secretAccessKey = '',
    SessionToken: sessionToken,
  } = Credentials ?? {};
  return { accessKeyId, secretAccessKey, sessionToken };
}

/** What the stack says, or, where it says nothing, the lifecycle of its archive. */
async function retentionInAccount(name: string, access: Access): Promise<number | undefined> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ ...access, maxAttempts: 2 });
  const asked = `asking the stack ${name} how long its archive is kept`;
  const described = await asking(asked, async () => {
    try {
      return await client.send(new DescribeStacksCommand({ StackName: name }));
    } catch (error) {
      const { name: code, message } = error as Error;
      if (code === 'ValidationError' && /does not exist/.test(message)) return undefined;
      throw error;
    }
  });
  if (described === undefined) return undefined;
  const [stack] = described.Stacks ?? [];
  if (stack === undefined) throw new Error(`${asked} failed: the answer names no stack`);
  const days = retentionIn(stack);
  if (days !== undefined) return days;
  const bucket = await archiveBucketOf(client, name);
  return bucket === undefined ? undefined : liveRetention(bucket, access);
}

/** A stack that was begun and never deployed, such as one with a change set to be reviewed, has no bucket. */
async function archiveBucketOf(client: CloudFormationClient, name: string): Promise<string | undefined> {
  const { paginateListStackResources } = await import('@aws-sdk/client-cloudformation');
  return asking(`listing the resources of the stack ${name}`, async () => {
    for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName: name }))
      for (const {
        ResourceType,
        LogicalResourceId = '',
        PhysicalResourceId,
        ResourceStatus = '',
      } of StackResourceSummaries)
        if (
          ResourceType === 'AWS::S3::Bucket' &&
          LogicalResourceId.startsWith('ArchiveBucket') &&
          !/^DELETE_(COMPLETE|SKIPPED)$/.test(ResourceStatus)
        )
          return PhysicalResourceId;
    return undefined;
  });
}

async function liveRetention(Bucket: string, access: Access): Promise<number> {
  const { S3Client, GetBucketLifecycleConfigurationCommand } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ ...access, maxAttempts: 2 });
  return asking(`reading the lifecycle of ${Bucket}`, async () => {
    try {
      const { Rules = [] } = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
      return retentionBy(Rules);
    } catch (error) {
      if ((error as Error).name === 'NoSuchLifecycleConfiguration') return Number.POSITIVE_INFINITY;
      throw error;
    }
  });
}

/** @returns days after which all that runs have written has expired by a live lifecycle, Infinity if some of it never does */
function retentionBy(rules: readonly LifecycleRule[]): number {
  const daysOf = (prefix: string) =>
    rules
      .filter((rule) => coversAll(rule, prefix))
      .map(({ Expiration }) => Expiration?.Days ?? Number.POSITIVE_INFINITY);
  return Math.max(...runPrefixes.map((prefix) => Math.min(Number.POSITIVE_INFINITY, ...daysOf(prefix))));
}

/** Whether a rule applies to everything below a prefix: not one with a condition on tags or sizes. */
function coversAll({ Status, Filter, Prefix }: LifecycleRule, prefix: string): boolean {
  const conditions = Object.keys(Filter ?? {}).filter((member) => member !== 'Prefix');
  return Status === 'Enabled' && conditions.length === 0 && prefix.startsWith(Filter?.Prefix ?? Prefix ?? '');
}

/** @param doing what is asked, as a noun phrase */
async function asking<Answer>(doing: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const { name, message } = error as Error;
    throw new Error(`${doing} failed (${name}: ${message})`, { cause: error });
  }
}
