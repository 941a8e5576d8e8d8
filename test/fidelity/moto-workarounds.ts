import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Template } from '../../local/deployment/stack-template';
import type { MotoAccount } from './moto-account';

/*
 * Beside what is done here: the deployment uses no change sets, of which an update deletes one that does not exist; an
 * update passes its parameters, because moto does not know the previous value of one with a default; options with roles
 * stay once they are on.
 */

/**
 * Types that moto's CloudFormation ignores, and cannot remove after a change. They are left out, and references to them
 * replaced by a text. The secret is created through its own API.
 */
const ignoredTypes = [
  'AWS::CloudWatch::Alarm',
  'AWS::Glue::Database',
  'AWS::Glue::Table',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Permission',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::Scheduler::Schedule',
  'AWS::SecretsManager::Secret',
];

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
 * Changes a synthesised assembly with one stack so that moto can deploy it. Beside what is ignored: a key has an empty
 * policy, because moto loses one whose policy changes, and one that signs is created through its own API;
 * RetainExceptOnCreate, at which moto deletes, is Retain; there is no termination protection.
 * @param standIns what was created through other APIs, because CloudFormation in moto cannot
 * @returns the template before the change
 */
export function prepareAssembly(folder: string, { secretArn, signingKeyArn }: StandIns): Template {
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
    if (replacements.has(name)) return undefined;
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
