import { UnsupportedTemplateError } from './template';

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
  readonly attributes: Readonly<Record<string, string>>;
}

interface Naming {
  /** The name from the template, or one made as CloudFormation makes it. */
  readonly name: string;
  arn(service: string, resource: string): string;
  readonly location: StackLocation;
}

interface ResourceKind {
  /** Property that holds a name chosen in the template. */
  readonly nameProperty?: string;
  identify(naming: Naming): ResourceIdentity;
}

const byName = ({ name }: Naming): ResourceIdentity => ({ ref: name, attributes: {} });

const kinds: Readonly<Record<string, ResourceKind>> = {
  'AWS::S3::Bucket': {
    nameProperty: 'BucketName',
    identify: ({ name, location }) => ({
      ref: name,
      attributes: {
        Arn: `arn:aws:s3:::${name}`,
        DomainName: `${name}.s3.amazonaws.com`,
        RegionalDomainName: `${name}.s3.${location.region}.amazonaws.com`,
      },
    }),
  },
  'AWS::SecretsManager::Secret': {
    nameProperty: 'Name',
    identify: ({ name, arn }) => {
      const id = arn('secretsmanager', `secret:${name}-Ab12Cd`);
      return { ref: id, attributes: { Id: id } };
    },
  },
  'AWS::IAM::Role': {
    nameProperty: 'RoleName',
    identify: ({ name, location }) => ({
      ref: name,
      attributes: { Arn: `arn:aws:iam::${location.accountId}:role/${name}`, RoleId: `AROA${name}` },
    }),
  },
  'AWS::Lambda::Function': {
    nameProperty: 'FunctionName',
    identify: ({ name, arn }) => ({ ref: name, attributes: { Arn: arn('lambda', `function:${name}`) } }),
  },
  'AWS::SNS::Topic': {
    nameProperty: 'TopicName',
    identify: ({ name, arn }) => {
      const topicArn = arn('sns', name);
      return { ref: topicArn, attributes: { TopicArn: topicArn, TopicName: name } };
    },
  },
  'AWS::SQS::Queue': {
    nameProperty: 'QueueName',
    identify: ({ name, arn, location }) => {
      const url = `https://sqs.${location.region}.amazonaws.com/${location.accountId}/${name}`;
      return { ref: url, attributes: { Arn: arn('sqs', name), QueueName: name, QueueUrl: url } };
    },
  },
  'AWS::KMS::Key': {
    identify: ({ name, arn }) => ({ ref: name, attributes: { Arn: arn('kms', `key/${name}`), KeyId: name } }),
  },
  'AWS::KMS::Alias': { nameProperty: 'AliasName', identify: byName },
  'AWS::Logs::LogGroup': {
    nameProperty: 'LogGroupName',
    identify: ({ name, arn }) => ({ ref: name, attributes: { Arn: arn('logs', `log-group:${name}:*`) } }),
  },
  'AWS::Scheduler::Schedule': {
    nameProperty: 'Name',
    identify: ({ name, arn }) => ({ ref: name, attributes: { Arn: arn('scheduler', `schedule/default/${name}`) } }),
  },
  'AWS::Scheduler::ScheduleGroup': {
    nameProperty: 'Name',
    identify: ({ name, arn }) => ({ ref: name, attributes: { Arn: arn('scheduler', `schedule-group/${name}`) } }),
  },
  'AWS::StepFunctions::StateMachine': {
    nameProperty: 'StateMachineName',
    identify: ({ name, arn }) => {
      const machineArn = arn('states', `stateMachine:${name}`);
      return { ref: machineArn, attributes: { Arn: machineArn, Name: name } };
    },
  },
  'AWS::CloudWatch::Alarm': {
    nameProperty: 'AlarmName',
    identify: ({ name, arn }) => ({ ref: name, attributes: { Arn: arn('cloudwatch', `alarm:${name}`) } }),
  },
  'AWS::CloudWatch::Dashboard': { nameProperty: 'DashboardName', identify: byName },
};

/**
 * @param chosenName the name the template chooses for a resource, if it chooses one
 * @throws UnsupportedTemplateError for a type whose names are not known here
 */
export function identifyResource(
  logicalId: string,
  type: string,
  location: StackLocation,
  chosenName: (property: string) => unknown,
): ResourceIdentity {
  const kind = kinds[type];
  if (kind === undefined)
    throw new UnsupportedTemplateError(
      `Cannot name the resource ${logicalId}: a local deployment does not know the type ${type}.`,
    );
  const chosen = kind.nameProperty === undefined ? undefined : chosenName(kind.nameProperty);
  return kind.identify({
    name: typeof chosen === 'string' ? chosen : generatedName(logicalId, type, location.stackName),
    arn: (service, resource) => `arn:aws:${service}:${location.region}:${location.accountId}:${resource}`,
    location,
  });
}

function generatedName(logicalId: string, type: string, stackName: string): string {
  const name = `${stackName}-${logicalId}`;
  return type === 'AWS::S3::Bucket' ? name.toLowerCase().slice(0, 63) : name;
}
