/** Where a stack is deployed. */
export interface StackLocation {
  readonly stackName: string;
  /** Twelve digits. */
  readonly accountId: string;
  readonly region: string;
}

/** What `Ref` and `Fn::GetAtt` answer for one deployed resource. */
export interface ResourceIdentity {
  readonly ref: string;
  readonly arn: string;
  readonly attributes: Readonly<Record<string, string>>;
}

interface ResourceKind {
  /** Property that holds a name chosen in the template. */
  readonly nameProperty?: string;
  readonly arn: (name: string, location: StackLocation) => string;
  /** Left out: the name. */
  readonly ref?: (name: string, arn: string, location: StackLocation) => string;
  /** Left out: the ARN as `Arn`. */
  readonly attributes?: (name: string, arn: string) => Record<string, string>;
}

/** An ARN with region and account: `arn:aws:<service>:<region>:<account>:<kind><name>`. */
const regional =
  (service: string, kind = ''): ResourceKind['arn'] =>
  (name, { region, accountId }) =>
    `arn:aws:${service}:${region}:${accountId}:${kind}${name}`;

const refIsArn = (_name: string, arn: string): string => arn;

const kinds: Readonly<Record<string, ResourceKind>> = {
  'AWS::S3::Bucket': { nameProperty: 'BucketName', arn: (name) => `arn:aws:s3:::${name}` },
  'AWS::SecretsManager::Secret': {
    nameProperty: 'Name',
    arn: (name, location) => `${regional('secretsmanager', 'secret:')(name, location)}-Ab12Cd`,
    ref: refIsArn,
  },
  'AWS::IAM::Role': {
    nameProperty: 'RoleName',
    arn: (name, { accountId }) => `arn:aws:iam::${accountId}:role/${name}`,
  },
  'AWS::Lambda::Function': { nameProperty: 'FunctionName', arn: regional('lambda', 'function:') },
  'AWS::SNS::Topic': {
    nameProperty: 'TopicName',
    arn: regional('sns'),
    ref: refIsArn,
    attributes: (name, arn) => ({ TopicArn: arn, TopicName: name }),
  },
  'AWS::SQS::Queue': {
    nameProperty: 'QueueName',
    arn: regional('sqs'),
    ref: (name, _arn, { region, accountId }) => `https://sqs.${region}.amazonaws.com/${accountId}/${name}`,
    attributes: (name, arn) => ({ Arn: arn, QueueName: name }),
  },
  'AWS::Events::Rule': { nameProperty: 'Name', arn: regional('events', 'rule/') },
  'AWS::KMS::Key': { arn: regional('kms', 'key/') },
  'AWS::Logs::LogGroup': {
    nameProperty: 'LogGroupName',
    arn: (name, location) => `${regional('logs', 'log-group:')(name, location)}:*`,
  },
  'AWS::StepFunctions::StateMachine': {
    nameProperty: 'StateMachineName',
    arn: regional('states', 'stateMachine:'),
    ref: refIsArn,
  },
};

/**
 * @param chosenName the name that the template chooses for a resource, if it chooses one
 * @returns undefined for a type whose names are not known here
 */
export function identifyResource(
  logicalId: string,
  type: string,
  location: StackLocation,
  chosenName: (property: string) => unknown,
): ResourceIdentity | undefined {
  const kind = kinds[type];
  if (kind === undefined) return undefined;
  const chosen = kind.nameProperty === undefined ? undefined : chosenName(kind.nameProperty);
  const name = typeof chosen === 'string' ? chosen : generatedName(logicalId, type, location.stackName);
  const arn = kind.arn(name, location);
  return {
    ref: kind.ref?.(name, arn, location) ?? name,
    arn,
    attributes: kind.attributes?.(name, arn) ?? { Arn: arn },
  };
}

function generatedName(logicalId: string, type: string, stackName: string): string {
  const name = `${stackName}-${logicalId}`;
  return type === 'AWS::S3::Bucket' ? name.toLowerCase().slice(0, 63) : name;
}
