import type { Stack, StackResourceSummary } from '@aws-sdk/client-cloudformation';
import { retentionIn } from '../../infra/deployed-retention';
import { AwsAccessError, type StackName, withAws } from './aws-access';

/** A deployed collector. */
export interface DeployedCollector {
  readonly name: string;
  /** Its region; the one of the environment or of the profile if none was named. */
  readonly region: string;
  readonly accountId: string;
  /** The status that CloudFormation gives, such as `UPDATE_COMPLETE`. */
  readonly status: string;
  readonly functionName: string;
  /** Works on a fleet in shards; undefined: there is one shard. */
  readonly stateMachineArn: string | undefined;
  readonly archiveBucket: string;
  readonly alertTopicArn: string | undefined;
  /** Gets what wakes nobody; undefined: the same as `alertTopicArn`. */
  readonly informTopicArn: string | undefined;
  /** Days after which objects expire, Infinity if none does; undefined: the stack does not say. */
  readonly retentionDays: number | undefined;
  /** Physical ids of its resources by their logical ids. */
  readonly physicalIds: ReadonlyMap<string, string>;
  /** The key that signs seals; undefined: the stack has no audit. */
  readonly signingKeyArn: string | undefined;
  /** The statement that the policy of an existing key needs; undefined: the stack has a key of its own, or none. */
  readonly signingKeyStatement: string | undefined;
}

/**
 * Finds the parts of a deployed collector.
 * @throws AwsAccessError if there is no such stack, or it is not one of a collector
 */
export async function findStack({ name, region }: StackName): Promise<DeployedCollector> {
  const { CloudFormationClient, DescribeStacksCommand, paginateListStackResources } = await import(
    '@aws-sdk/client-cloudformation'
  );
  const client = new CloudFormationClient(region === undefined ? {} : { region });
  return withAws(`Finding the stack ${name}`, async () => {
    const own = await client.config.region();
    const described = await client.send(new DescribeStacksCommand({ StackName: name })).catch((error: Error) => {
      if (!/does not exist/.test(error.message)) throw error;
      throw new AwsAccessError(
        `Finding the stack ${name} failed: region ${own} of this account has none; check --stack, --region and the profile, or deploy it`,
        { cause: error },
      );
    });
    const resources: StackResourceSummary[] = [];
    for await (const page of paginateListStackResources({ client }, { StackName: name }))
      resources.push(...(page.StackResourceSummaries ?? []));
    return collectorIn(described.Stacks?.[0], resources, own);
  });
}

function collectorIn(
  stack: Stack | undefined,
  resources: readonly StackResourceSummary[],
  region: string,
): DeployedCollector {
  const idOf = (type: string, logicalPrefix: string) =>
    resources.find(
      ({ ResourceType, LogicalResourceId = '' }) =>
        ResourceType === type && LogicalResourceId.startsWith(logicalPrefix),
    )?.PhysicalResourceId;
  const output = (key: string) => stack?.Outputs?.find(({ OutputKey }) => OutputKey === key)?.OutputValue;
  const functionName = idOf('AWS::Lambda::Function', 'CollectorFunction');
  const archiveBucket = output('ArchiveBucket') ?? idOf('AWS::S3::Bucket', 'ArchiveBucket');
  const { StackName: name = '', StackId = '', StackStatus: status = '' } = stack ?? {};
  if (functionName === undefined || archiveBucket === undefined)
    throw new AwsAccessError(
      `Finding the collector in the stack ${name} failed: it has no function CollectorFunction and archive (state ${status}); deploy it, or check --stack`,
    );
  return {
    name,
    region,
    accountId: StackId.split(':')[4] ?? '',
    status,
    functionName,
    stateMachineArn: idOf('AWS::StepFunctions::StateMachine', ''),
    archiveBucket,
    alertTopicArn: output('AlertTopic'),
    informTopicArn: output('InformTopic'),
    retentionDays: retentionIn(stack),
    physicalIds: new Map(
      resources.flatMap(({ LogicalResourceId: id, PhysicalResourceId: physicalId }) =>
        id === undefined || physicalId === undefined ? [] : [[id, physicalId] as const],
      ),
    ),
    signingKeyArn: output('SigningKey'),
    signingKeyStatement: output('SigningKeyPolicy'),
  };
}
