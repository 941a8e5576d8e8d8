import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetBucketVersioningCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Template } from '../local/deployment/template';
import { assetBucket, type MotoAccount, templateHost } from './moto-account';

/** One thing that moto cannot do, what is done instead, and how a moto that can is recognised. */
interface Workaround {
  /** The stack is deployed; the template is the one that was synthesised. */
  isNeeded(account: MotoAccount, stackName: string, template: Template): Promise<boolean>;
}

/** Types that moto's CloudFormation passes over; what refers to one of them is given a text instead. */
const absentTypes = [
  'AWS::CloudWatch::Alarm',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::Scheduler::Schedule',
  'AWS::SecretsManager::Secret',
];

/** What moto's CloudFormation does not hand to the function that it creates. */
const lostProperties = ['Architectures', 'EphemeralStorage', 'LoggingConfig'];

/** Everything that is not done as in an account, by what is done instead. */
export const workarounds: Readonly<Record<string, Workaround>> = {
  'termination protection is left out: moto has no UpdateTerminationProtection': {
    isNeeded: async (account, StackName) => {
      const parameters = { StackName, EnableTerminationProtection: 'false' };
      return (await account.query('cloudformation', 'UpdateTerminationProtection', parameters)).status >= 400;
    },
  },
  'deployed without change sets: moto cannot delete one that does not exist, with which an update begins': {
    isNeeded: async (account, StackName) => {
      const parameters = { StackName, ChangeSetName: 'cdk-deploy-change-set' };
      return (await account.query('cloudformation', 'DeleteChangeSet', parameters)).status >= 400;
    },
  },
  'an update names its parameters: moto does not know the previous value of one that has a default': {
    isNeeded: async (account, StackName) => {
      const update = (parameter: Record<string, string>) =>
        account.query('cloudformation', 'UpdateStack', {
          ...{ StackName, UsePreviousTemplate: 'true', 'Parameters.member.1.ParameterKey': 'BootstrapVersion' },
          ...Object.fromEntries(Object.entries(parameter).map(([key, value]) => [`Parameters.member.1.${key}`, value])),
        });
      const previous = await update({ UsePreviousValue: 'true' });
      const named = await update({ ParameterValue: '/cdk-bootstrap/hnb659fds/version' });
      return previous.status >= 400 && named.status === 200;
    },
  },
  "the template's address names localhost: moto takes the first part of any other host for the bucket": {
    isNeeded: async (account) => {
      const Body = '{"Resources":{"Topic":{"Type":"AWS::SNS::Topic"}}}';
      await account.s3.send(new PutObjectCommand({ Bucket: assetBucket, Key: 'probe.json', Body }));
      const validate = (url: string) =>
        account.query('cloudformation', 'ValidateTemplate', { TemplateURL: `${url}/${assetBucket}/probe.json` });
      const [direct, renamed] = await Promise.all([validate(account.url), validate(templateHost(account.url))]);
      return direct.status >= 400 && renamed.status === 200;
    },
  },
  ...Object.fromEntries(
    absentTypes.map((type) => [
      type === 'AWS::SecretsManager::Secret'
        ? `${type} is passed over by moto's CloudFormation: it is created through its own API`
        : `${type} is passed over by moto's CloudFormation: it is left out, and so is what it is for`,
      {
        isNeeded: async (account: MotoAccount, stackName: string, { Resources }: Template) =>
          Object.values(Resources).some(({ Type }) => Type === type) &&
          !(await account.resourcesOf(stackName)).some((resource) => resource.type === type),
      },
    ]),
  ),
  "of a bucket, all but encryption and tags is lost in moto's CloudFormation: it is left out": {
    isNeeded: async (account, stackName, { Resources }) => {
      const resources = await account.resourcesOf(stackName);
      const versioned = resources.find(({ logicalId }) => Resources[logicalId]?.Properties?.VersioningConfiguration);
      const { Status } = await account.s3.send(new GetBucketVersioningCommand({ Bucket: versioned?.physicalId }));
      return Status !== 'Enabled';
    },
  },
  ...Object.fromEntries(
    lostProperties.map((property) => [
      `the function's ${property} is lost in moto's CloudFormation: it is left out`,
      {
        isNeeded: async (account: MotoAccount, stackName: string, { Resources }: Template) => {
          const wanted =
            Object.values(Resources).find(({ Type }) => Type === 'AWS::Lambda::Function')?.Properties ?? {};
          const { physicalId = '' } =
            (await account.resourcesOf(stackName)).find(({ type }) => type === 'AWS::Lambda::Function') ?? {};
          const { [property]: kept } = await account.configurationOf(physicalId);
          return property in wanted && JSON.stringify(kept) !== JSON.stringify(wanted[property]);
        },
      },
    ]),
  ),
};

/** Types of the template of which the stack has fewer resources, beyond those that are known to be passed over. */
export async function passedOver(account: MotoAccount, stackName: string, template: Template): Promise<string[]> {
  const deployed = await account.resourcesOf(stackName);
  const missing = Object.entries(template.Resources)
    .filter(([id, { Type }]) => !deployed.some(({ logicalId, type }) => logicalId === id && type === Type))
    .map(([, { Type }]) => Type);
  return [...new Set(missing)].filter((type) => !absentTypes.includes(type));
}

/**
 * Applies the workarounds to a synthesised assembly with one stack.
 * @param secretArn of the secret that stands for the template's
 * @returns the template as it was
 */
export function prepareAssembly(folder: string, secretArn: string): Template {
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.template.json'));
  const template: Template = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const absent = new Map(
    Object.entries(template.Resources)
      .filter(([, { Type }]) => absentTypes.includes(Type))
      .map(([id, { Type }]) => [id, Type === 'AWS::SecretsManager::Secret' ? secretArn : `not-in-moto-${id}`]),
  );
  const referred = JSON.stringify(template, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const { Ref: ref, 'Fn::GetAtt': attribute } = value as Record<string, unknown>;
    return absent.get(String(Array.isArray(attribute) ? attribute[0] : ref)) ?? value;
  });
  writeFileSync(join(folder, file), referred);
  const manifest = join(folder, 'manifest.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"terminationProtection": true,?/, ''));
  return template;
}
