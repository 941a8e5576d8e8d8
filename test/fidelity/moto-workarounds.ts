import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetPublicKeyCommand } from '@aws-sdk/client-kms';
import {
  DeleteBucketCommand,
  GetBucketVersioningCommand,
  ListBucketsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type { Template } from '../../local/deployment/stack-template';
import { assetBucket, type MotoAccount, templateHost } from './moto-account';

/**
 * Whether moto still cannot do something, so that the tests have to work around it.
 * @param stackName a deployed stack
 * @param template the stack's template before it was changed for moto
 */
type IsNeeded = (account: MotoAccount, stackName: string, template: Template) => Promise<boolean>;

/** Types that moto's CloudFormation ignores. References to their resources are replaced by a text. */
const ignoredTypes = [
  'AWS::CloudWatch::Alarm',
  'AWS::EventSchemas::Schema',
  'AWS::Glue::Database',
  'AWS::Glue::Table',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::Scheduler::Schedule',
  'AWS::SecretsManager::Secret',
];

/** Properties of a function that moto's CloudFormation ignores. */
const ignoredProperties = ['Architectures', 'EphemeralStorage', 'LoggingConfig'];

/** Everything that differs from a deployment into a real account, by what is done instead. */
export const workarounds: Readonly<Record<string, IsNeeded>> = {
  'termination protection is off: moto has no UpdateTerminationProtection': async (account, StackName) => {
    const parameters = { StackName, EnableTerminationProtection: 'false' };
    return (await account.query('cloudformation', 'UpdateTerminationProtection', parameters)).status >= 400;
  },
  'the deployment uses no change sets: an update starts by deleting one that does not exist, which moto cannot do':
    async (account, StackName) => {
      const parameters = { StackName, ChangeSetName: 'cdk-deploy-change-set' };
      return (await account.query('cloudformation', 'DeleteChangeSet', parameters)).status >= 400;
    },
  'an update passes its parameters: moto does not know the previous value of a parameter with a default': async (
    account,
    StackName,
  ) => {
    const update = (parameter: Record<string, string>) =>
      account.query('cloudformation', 'UpdateStack', {
        ...{ StackName, UsePreviousTemplate: 'true', 'Parameters.member.1.ParameterKey': 'BootstrapVersion' },
        ...Object.fromEntries(Object.entries(parameter).map(([key, value]) => [`Parameters.member.1.${key}`, value])),
      });
    const previous = await update({ UsePreviousValue: 'true' });
    const named = await update({ ParameterValue: '/cdk-bootstrap/hnb659fds/version' });
    return previous.status >= 400 && named.status === 200;
  },
  'RetainExceptOnCreate is written as Retain: moto deletes what has it': async (account) => {
    const StackName = 'probe-of-deletion';
    const Resources = { Kept: { Type: 'AWS::S3::Bucket', DeletionPolicy: 'RetainExceptOnCreate' } };
    await account.query('cloudformation', 'CreateStack', { StackName, TemplateBody: JSON.stringify({ Resources }) });
    await account.query('cloudformation', 'DeleteStack', { StackName });
    const { Buckets = [] } = await account.s3.send(new ListBucketsCommand({}));
    const kept = Buckets.filter(({ Name }) => Name?.startsWith(StackName));
    for (const { Name: Bucket } of kept) await account.s3.send(new DeleteBucketCommand({ Bucket }));
    return kept.length === 0;
  },
  'a key has an empty policy: moto loses a key whose policy changes': async (account) => {
    const StackName = 'probe-of-keys';
    const withPolicy = (Id: string) => {
      const Key = { Type: 'AWS::KMS::Key', Properties: { KeyPolicy: { Id, Statement: [] } } };
      return { StackName, TemplateBody: JSON.stringify({ Resources: { Key } }) };
    };
    await account.query('cloudformation', 'CreateStack', withPolicy('one'));
    const created = await account.resourcesOf(StackName);
    await account.query('cloudformation', 'UpdateStack', withPolicy('two'));
    const updated = await account.resourcesOf(StackName);
    await account.query('cloudformation', 'DeleteStack', { StackName });
    return created.length === 1 && updated.length === 0;
  },
  "a signing key is created through its own API: moto's CloudFormation makes every key one that encrypts": async (
    account,
  ) => {
    const StackName = 'probe-of-signing-keys';
    const Properties = { KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY', KeyPolicy: { Statement: [] } };
    const Resources = { Key: { Type: 'AWS::KMS::Key', Properties } };
    await account.query('cloudformation', 'CreateStack', { StackName, TemplateBody: JSON.stringify({ Resources }) });
    const [key] = await account.resourcesOf(StackName);
    const { KeyUsage } = await account.kms.send(new GetPublicKeyCommand({ KeyId: key?.physicalId }));
    await account.query('cloudformation', 'DeleteStack', { StackName });
    return KeyUsage !== 'SIGN_VERIFY';
  },
  'a changed stack is deployed without what moto ignores: moto cannot remove such a resource after a change': async (
    account,
  ) => {
    const StackName = 'probe-of-removal';
    const Topic = { Type: 'AWS::SNS::Topic' };
    const withAlarm = (Threshold: number) => ({
      Topic,
      Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: { Threshold } },
    });
    const deploy = async (action: 'CreateStack' | 'UpdateStack', Resources: object) =>
      (await account.query('cloudformation', action, { StackName, TemplateBody: JSON.stringify({ Resources }) }))
        .status;
    await deploy('CreateStack', withAlarm(1));
    const changed = await deploy('UpdateStack', withAlarm(2));
    const removed = await deploy('UpdateStack', { Topic });
    await account.query('cloudformation', 'DeleteStack', { StackName });
    return changed === 200 && removed >= 400;
  },
  "the template's URL has the host localhost: moto takes the first part of any other host for the bucket": async (
    account,
  ) => {
    const Body = '{"Resources":{"Topic":{"Type":"AWS::SNS::Topic"}}}';
    await account.s3.send(new PutObjectCommand({ Bucket: assetBucket, Key: 'probe.json', Body }));
    const validate = (url: string) =>
      account.query('cloudformation', 'ValidateTemplate', { TemplateURL: `${url}/${assetBucket}/probe.json` });
    const [direct, renamed] = await Promise.all([validate(account.url), validate(templateHost(account.url))]);
    return direct.status >= 400 && renamed.status === 200;
  },
  ...Object.fromEntries(
    ignoredTypes.map((type) => [
      type === 'AWS::SecretsManager::Secret'
        ? `${type} is created through its own API: moto's CloudFormation ignores it`
        : `${type} is missing: moto's CloudFormation ignores it`,
      async (account: MotoAccount, stackName: string, { Resources }: Template) =>
        Object.values(Resources).some(({ Type }) => Type === type) &&
        !(await account.resourcesOf(stackName)).some((resource) => resource.type === type),
    ]),
  ),
  "a bucket has only encryption and tags: moto's CloudFormation ignores its other properties": async (
    account,
    stackName,
    { Resources },
  ) => {
    const resources = await account.resourcesOf(stackName);
    const versioned = resources.find(({ logicalId }) => Resources[logicalId]?.Properties?.VersioningConfiguration);
    const { Status } = await account.s3.send(new GetBucketVersioningCommand({ Bucket: versioned?.physicalId }));
    return Status !== 'Enabled';
  },
  ...Object.fromEntries(
    ignoredProperties.map((property) => [
      `the function has no ${property}: moto's CloudFormation ignores it`,
      async (account: MotoAccount, stackName: string, { Resources }: Template) => {
        const wanted = Object.values(Resources).find(({ Type }) => Type === 'AWS::Lambda::Function')?.Properties ?? {};
        const { physicalId = '' } =
          (await account.resourcesOf(stackName)).find(({ type }) => type === 'AWS::Lambda::Function') ?? {};
        const { [property]: kept } = await account.configurationOf(physicalId);
        return property in wanted && JSON.stringify(kept) !== JSON.stringify(wanted[property]);
      },
    ]),
  ),
};

/** The types of resources that the template has and the deployed stack lacks, without the types that moto is known to ignore. */
export async function missingTypes(account: MotoAccount, stackName: string, template: Template): Promise<string[]> {
  const deployed = await account.resourcesOf(stackName);
  const missing = Object.entries(template.Resources)
    .filter(([id, { Type }]) => !deployed.some(({ logicalId, type }) => logicalId === id && type === Type))
    .map(([, { Type }]) => Type);
  return [...new Set(missing)].filter((type) => !ignoredTypes.includes(type));
}

/** What stands in for resources of the template, by ARN. */
export interface StandIns {
  readonly secretArn: string;
  readonly signingKeyArn: string;
}

/**
 * Applies the workarounds to a synthesised assembly with one stack.
 * @param standIns what was created through other APIs, because CloudFormation in moto cannot
 * @param withIgnored whether resources that moto ignores stay in the template
 * @returns the template before the change
 */
export function prepareAssembly(
  folder: string,
  { secretArn, signingKeyArn }: StandIns,
  withIgnored: boolean,
): Template {
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.template.json'));
  const template: Template = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const replacements = new Map(
    Object.entries(template.Resources)
      .filter(([, { Type }]) => ignoredTypes.includes(Type))
      .map(([id, { Type }]) => [id, Type === 'AWS::SecretsManager::Secret' ? secretArn : `not-in-moto-${id}`]),
  );
  const signingKeys = Object.entries(template.Resources).flatMap(([id, { Properties }]) =>
    Properties?.KeyUsage === 'SIGN_VERIFY' ? [id] : [],
  );
  const changed = JSON.stringify(template, (name, value: unknown) => {
    if (name === 'KeyPolicy') return { Statement: [] };
    if (!withIgnored && replacements.has(name)) return undefined;
    if (typeof value !== 'object' || value === null) return value;
    const { Ref: ref, 'Fn::GetAtt': attribute } = value as Record<string, unknown>;
    if (Array.isArray(attribute) && signingKeys.includes(attribute[0])) return signingKeyArn;
    return replacements.get(String(Array.isArray(attribute) ? attribute[0] : ref)) ?? value;
  });
  writeFileSync(join(folder, file), changed.replaceAll('"RetainExceptOnCreate"', '"Retain"'));
  const manifest = join(folder, 'manifest.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"terminationProtection": true,?/, ''));
  return template;
}
