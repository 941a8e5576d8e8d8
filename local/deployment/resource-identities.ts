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

/**
 * What ARN and `Ref` are made of, by type, with `{name}`, `{account}`, `{region}`, `{place}` (region and account) and, in
 * `Ref`, `{arn}`. Without the second, `Ref` is the name.
 */
const kinds: Readonly<Record<string, readonly [arn: string, ref?: string]>> = {
  'AWS::S3::Bucket': ['arn:aws:s3:::{name}'],
  'AWS::SecretsManager::Secret': ['arn:aws:secretsmanager:{place}:secret:{name}-Ab12Cd', '{arn}'],
  'AWS::IAM::Role': ['arn:aws:iam::{account}:role/{name}'],
  'AWS::Lambda::Function': ['arn:aws:lambda:{place}:function:{name}'],
  'AWS::SNS::Topic': ['arn:aws:sns:{place}:{name}', '{arn}'],
  'AWS::SQS::Queue': ['arn:aws:sqs:{place}:{name}', 'https://sqs.{region}.amazonaws.com/{account}/{name}'],
  'AWS::Events::Rule': ['arn:aws:events:{place}:rule/{name}'],
  'AWS::KMS::Key': ['arn:aws:kms:{place}:key/{name}'],
  'AWS::Logs::LogGroup': ['arn:aws:logs:{place}:log-group:{name}:*'],
  'AWS::StepFunctions::StateMachine': ['arn:aws:states:{place}:stateMachine:{name}', '{arn}'],
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
  const [arnForm, refForm = '{name}'] = kinds[type] ?? [];
  if (arnForm === undefined) return undefined;
  const chosen = propertyOf(`${type.split('::')[2]}Name`) ?? propertyOf('Name');
  const generated = `${stackName}-${logicalId}`;
  const ofBucket = generated.toLowerCase().slice(0, 63);
  const name = typeof chosen === 'string' ? chosen : type === 'AWS::S3::Bucket' ? ofBucket : generated;
  return identityOf([arnForm, refForm], name, { accountId, region });
}

/**
 * @param physicalId as CloudFormation lists it: what `Ref` answers
 * @returns undefined for a type whose ARNs are not known here
 */
export function identifyDeployed(
  type: string,
  physicalId: string,
  location: Pick<StackLocation, 'accountId' | 'region'>,
): ResourceIdentity | undefined {
  const [arnForm] = kinds[type] ?? [];
  if (arnForm === undefined) return undefined;
  if (physicalId.startsWith('arn:')) return { ref: physicalId, arn: physicalId };
  // The id of a queue is an address.
  const name = physicalId.split('/').at(-1) ?? '';
  return { ref: physicalId, arn: identityOf([arnForm], name, location).arn };
}

function identityOf(
  [arnForm, refForm = '{name}']: readonly [arn: string, ref?: string],
  name: string,
  { accountId, region }: Pick<StackLocation, 'accountId' | 'region'>,
): ResourceIdentity {
  const known: Record<string, string> = { name, account: accountId, region, place: `${region}:${accountId}` };
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_whole, value: string) => known[value] ?? '');
  known.arn = fill(arnForm);
  return { ref: fill(refForm), arn: known.arn };
}
