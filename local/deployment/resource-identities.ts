/** Where a stack is deployed. */
export interface StackLocation {
  readonly stackName: string;
  /** Twelve digits. */
  readonly accountId: string;
  readonly region: string;
}

/** How one deployed resource is named. */
export interface ResourceIdentity {
  /** What `Ref` answers. */
  readonly ref: string;
  /** What `Fn::GetAtt` of `Arn` answers. */
  readonly arn: string;
}

/** Texts with `{name}`, `{account}`, `{region}`, `{place}` (region and account) and, in `ref`, `{arn}`. */
interface ResourceKind {
  readonly arn: string;
  /** Left out: the name. */
  readonly ref?: string;
}

const kinds: Readonly<Record<string, ResourceKind>> = {
  'AWS::S3::Bucket': { arn: 'arn:aws:s3:::{name}' },
  'AWS::SecretsManager::Secret': { arn: 'arn:aws:secretsmanager:{place}:secret:{name}-Ab12Cd', ref: '{arn}' },
  'AWS::IAM::Role': { arn: 'arn:aws:iam::{account}:role/{name}' },
  'AWS::Lambda::Function': { arn: 'arn:aws:lambda:{place}:function:{name}' },
  'AWS::SNS::Topic': { arn: 'arn:aws:sns:{place}:{name}', ref: '{arn}' },
  'AWS::SQS::Queue': { arn: 'arn:aws:sqs:{place}:{name}', ref: 'https://sqs.{region}.amazonaws.com/{account}/{name}' },
  'AWS::Events::Rule': { arn: 'arn:aws:events:{place}:rule/{name}' },
  'AWS::KMS::Key': { arn: 'arn:aws:kms:{place}:key/{name}' },
  'AWS::Logs::LogGroup': { arn: 'arn:aws:logs:{place}:log-group:{name}:*' },
  'AWS::StepFunctions::StateMachine': { arn: 'arn:aws:states:{place}:stateMachine:{name}', ref: '{arn}' },
};

/**
 * @param propertyOf a property as the template has it; one such as `BucketName` or `Name` holds a chosen name
 * @returns undefined for a type whose names are not known here
 */
export function identifyResource(
  logicalId: string,
  type: string,
  { stackName, accountId, region }: StackLocation,
  propertyOf: (property: string) => unknown,
): ResourceIdentity | undefined {
  const kind = kinds[type];
  if (kind === undefined) return undefined;
  const chosen = propertyOf(`${type.split('::')[2]}Name`) ?? propertyOf('Name');
  const generated = `${stackName}-${logicalId}`;
  const ofBucket = generated.toLowerCase().slice(0, 63);
  const name = typeof chosen === 'string' ? chosen : type === 'AWS::S3::Bucket' ? ofBucket : generated;
  const known: Record<string, string> = { name, account: accountId, region, place: `${region}:${accountId}` };
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_whole, value: string) => known[value] ?? '');
  const arn = fill(kind.arn);
  known.arn = arn;
  return { ref: fill(kind.ref ?? '{name}'), arn };
}
