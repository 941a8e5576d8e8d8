import type { Template } from '../../../local/deployment/stack-template';
import { useLocalCollector } from '../../end-to-end/local-collector';

const collector = useLocalCollector();

/** The template's resources of a type whose logical ids begin so. */
function resourcesOf({ Resources }: Template, type: string, prefix: string) {
  const found = Object.entries(Resources).filter(([id, { Type }]) => Type === type && id.startsWith(prefix));
  expect(found).toHaveLength(1);
  return found;
}

it('does not fire a schedule that is disabled', async () => {
  const edit = (template: Template) => {
    for (const [, { Properties }] of resourcesOf(template, 'AWS::Scheduler::Schedule', 'Schedule'))
      Object.assign(Properties ?? {}, { State: 'DISABLED' });
  };
  const deployed = await collector.deploy({ edit });
  await expect(deployed.fireSchedule(new Date())).rejects.toThrow('Cannot fire the schedule: it is disabled.');
});

const ofFunction = ['AWS::Lambda::Function', 'CollectorFunction'] as const;
const ofRole = ['AWS::IAM::Role', 'CollectorRole'] as const;
const Condition = { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } };
const PolicyDocument = { Statement: { Effect: 'Deny', Action: '*', Resource: '*', Condition } };

it.each<[string, readonly [type: string, prefix: string], object, RegExp]>([
  [
    'a property that it does not know',
    ofFunction,
    { Layers: ['arn:aws:lambda:a:1:layer:x:1'] },
    /Unrecognized .*"Layers"/,
  ],
  ['a time limit over 15 minutes', ofFunction, { Timeout: 901 }, /Timeout/],
  ['a role that Lambda may not assume', ofRole, { AssumeRolePolicyDocument: { Statement: [] } }, /assume it/],
  [
    'a policy it does not understand',
    ['AWS::IAM::Policy', 'CollectorRole'],
    { PolicyDocument },
    /Condition.*IpAddress/,
  ],
  ['a secret under a key of KMS', ['AWS::SecretsManager::Secret', ''], { KmsKeyId: 'key' }, /"KmsKeyId"/],
  ['a managed policy', ofRole, { ManagedPolicyArns: ['arn:aws:iam::aws:policy/X'] }, /ManagedPolicyArns/],
])('refuses to deploy %s', async (_what, of, change, message) => {
  const edit = (template: Template) => {
    for (const [, { Properties }] of resourcesOf(template, ...of)) Object.assign(Properties ?? {}, change);
  };
  await expect(collector.deploy({ edit })).rejects.toMatchObject({
    name: 'UnsupportedTemplateError',
    message: expect.stringMatching(message),
  });
});

it('refuses to deploy a template without its function', async () => {
  const edit = (template: Template) => {
    for (const [id] of resourcesOf(template, ...ofFunction)) delete template.Resources[id];
  };
  await expect(collector.deploy({ edit })).rejects.toMatchObject({ name: 'UnsupportedTemplateError' });
});
