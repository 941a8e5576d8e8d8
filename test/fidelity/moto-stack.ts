import type { templateOf } from '../infra/example-stack';
import type { MotoServer } from '../local/aws/moto-server';

/** Whoever calls moto, while it checks nobody. */
export const credentials = { accessKeyId: 'moto', secretAccessKey: 'moto' };

/** What moto's CloudFormation makes of the stack: its functions need Docker, and of most other types it knows nothing. */
export const deployedTypes = [
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::S3::Bucket',
  'AWS::SNS::Topic',
  'AWS::SQS::Queue',
];

/** The resources of these types. A reference to another is replaced by an ARN of nothing. */
export function resourcesFor(template: ReturnType<typeof templateOf>) {
  const kept = Object.entries(template.Resources).filter(([, { Type }]) => deployedTypes.includes(Type));
  const names = kept.map(([name]) => name);
  const text = JSON.stringify(Object.fromEntries(kept), (member, value: unknown) => {
    if (member === 'DependsOn') return [value].flat().filter((name) => names.includes(String(name)));
    if (typeof value !== 'object' || value === null) return value;
    const { Ref: ref, 'Fn::GetAtt': attribute } = value as Record<string, unknown>;
    const name = Array.isArray(attribute) ? String(attribute[0]) : ref;
    return typeof name !== 'string' || names.includes(name) || name.startsWith('AWS::')
      ? value
      : `arn:aws:nothing:::${name}`;
  });
  // moto deletes what RetainExceptOnCreate keeps.
  return JSON.parse(text.replaceAll('"RetainExceptOnCreate"', '"Retain"')) as typeof template.Resources;
}

/** Lets moto check policies after so many requests. */
export async function setChecks({ url }: MotoServer, after: string): Promise<void> {
  await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: after });
}
