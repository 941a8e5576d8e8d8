import type { Stack, StackResourceSummary } from '@aws-sdk/client-cloudformation';
import { retentionIn } from '../../infra/deployed-retention';
import { addressText, logicalStart, parseAddress } from '../../infra/stack-address';
import { AwsAccessError, type StackName, withAws } from './aws-access';

/** A deployed collector. */
export interface DeployedCollector {
  /** What `--stack` takes. */
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
  /** With what the logical ids of its parts begin. */
  readonly place: string;
  /** Physical ids of the stack's resources by their logical ids. */
  readonly physicalIds: ReadonlyMap<string, string>;
  /** The key that signs seals; undefined: the stack has no audit. */
  readonly signingKeyArn: string | undefined;
  /** The statement that the policy of an existing key needs; undefined: the stack has a key of its own, or none. */
  readonly signingKeyStatement: string | undefined;
}

/** AWS answered: the stack is not there, or has not one collector. */
export class CollectorNotFoundError extends AwsAccessError {}

/**
 * Finds the parts of a deployed collector.
 * @throws CollectorNotFoundError if there is no such stack, or it is not one of a collector; AwsAccessError if AWS does not answer
 */
export async function findStack({ name: typed, region }: StackName): Promise<DeployedCollector> {
  const { CloudFormationClient, DescribeStacksCommand, paginateListStackResources } = await import(
    '@aws-sdk/client-cloudformation'
  );
  const client = new CloudFormationClient(region === undefined ? {} : { region });
  const { stack: name, place } = parseAddress(typed);
  return withAws(`Finding the stack ${name}`, async () => {
    const own = await client.config.region();
    const described = await client.send(new DescribeStacksCommand({ StackName: name })).catch((error: Error) => {
      if (!/does not exist/.test(error.message)) throw error;
      throw new CollectorNotFoundError(
        `Finding the stack ${name} failed: region ${own} of this account has none; check --stack, --region and the profile, or deploy it`,
        { cause: error },
      );
    });
    const resources: StackResourceSummary[] = [];
    for await (const page of paginateListStackResources({ client }, { StackName: name }))
      resources.push(...(page.StackResourceSummaries ?? []));
    return collectorIn(described.Stacks?.[0], resources, own, place);
  });
}

function collectorIn(
  stack: Stack | undefined,
  resources: readonly StackResourceSummary[],
  region: string,
  typed: string,
): DeployedCollector {
  const { Outputs = [], StackName: name = '', StackId = '', StackStatus: status = '' } = stack ?? {};
  const place = typed || onlyPlace(name, Outputs);
  const isPart = ({ LogicalResourceId = '' }: StackResourceSummary, ...ids: string[]) =>
    LogicalResourceId.startsWith(logicalStart([place, ...ids]));
  const idOf = (type: string, ...ids: string[]) =>
    resources.find((resource) => resource.ResourceType === type && isPart(resource, ...ids))?.PhysicalResourceId;
  const output = (key: string) => Outputs.find(({ OutputKey }) => OutputKey === `${place}${key}`)?.OutputValue;
  const functionName = idOf('AWS::Lambda::Function', 'Collector', 'Function');
  const archiveBucket = output('ArchiveBucket') ?? idOf('AWS::S3::Bucket', 'Archive', 'Bucket');
  if (functionName === undefined || archiveBucket === undefined)
    throw new CollectorNotFoundError(
      `Finding the collector in the stack ${addressText({ stack: name, place })} failed: it has no function ${logicalStart([place, 'Collector', 'Function'])} and archive (state ${status}); deploy it, or check --stack`,
    );
  return {
    name: addressText({ stack: name, place }),
    place,
    region,
    accountId: StackId.split(':')[4] ?? '',
    status,
    functionName,
    stateMachineArn: idOf('AWS::StepFunctions::StateMachine', 'FanOut'),
    archiveBucket,
    alertTopicArn: output('AlertTopic'),
    informTopicArn: output('InformTopic'),
    retentionDays: retentionIn(stack, place),
    physicalIds: new Map(
      resources.flatMap(({ LogicalResourceId: id, PhysicalResourceId: physicalId }) =>
        id === undefined || physicalId === undefined ? [] : [[id, physicalId] as const],
      ),
    ),
    signingKeyArn: output('SigningKey'),
    signingKeyStatement: output('SigningKeyPolicy'),
  };
}

/** Where the only collector of a stack is, by its outputs: empty for a stack that is nothing but a collector. */
function onlyPlace(stack: string, outputs: NonNullable<Stack['Outputs']>): string {
  const places = outputs.flatMap(({ OutputKey = '' }) => /^(.*)ArchiveBucket$/.exec(OutputKey)?.[1] ?? []);
  if (places.length > 1)
    throw new CollectorNotFoundError(
      `Finding the collector in the stack ${stack} failed: it has ${places.length}; expected --stack ${places.map((place) => addressText({ stack, place })).join(' or ')}`,
    );
  return places[0] ?? '';
}
