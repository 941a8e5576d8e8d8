import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  deployLocally,
  type LocalDeployment,
  type LocalDeploymentOptions,
} from '../../../local/deployment/deploy-locally';
import type { Template } from '../../../local/deployment/stack-template';
import { synthesizeSmallStack } from './small-stack';

const assembly = synthesizeSmallStack();
const noon = new Date('2026-11-20T12:00:00Z');

let folder: string;
const deployments: LocalDeployment[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deploy-locally-'));
});

afterEach(async () => {
  await Promise.all(deployments.splice(0).map((deployment) => deployment.close()));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await rm(assembly.directory, { recursive: true });
});

async function deploy(options: Partial<LocalDeploymentOptions> = {}): Promise<LocalDeployment> {
  const deployment = await deployLocally({ assembly, folder, ...options });
  deployments.push(deployment);
  return deployment;
}

/** The properties of the template's only resource of a type whose logical id begins so. */
function properties(template: Template, type: string, prefix = ''): Record<string, unknown> {
  const [found, ...others] = Object.entries(template.Resources)
    .filter(([id, { Type }]) => Type === type && id.startsWith(prefix))
    .map(([, resource]) => resource);
  if (found === undefined || others.length > 0) throw new Error(`expected one ${type} ${prefix}`);
  found.Properties ??= {};
  return found.Properties;
}

function remove(template: Template, type: string, prefix = ''): void {
  for (const [id, { Type }] of Object.entries(template.Resources))
    if (Type === type && id.startsWith(prefix)) delete template.Resources[id];
}

describe('a local deployment', () => {
  it('removes the temporary folder of a function whose process was killed, and of no other', async () => {
    const alive = await mkdtemp(join(tmpdir(), `local-function-${process.ppid}-`));
    const foreign = await mkdtemp(join(tmpdir(), 'local-function-of-somebody-'));
    // Given its name once it is filled: another test's deployment removes it too.
    const filled = await mkdtemp(join(tmpdir(), 'filled-'));
    // No process has a number this large.
    const killed = join(tmpdir(), `local-function-999999999-${basename(filled)}`);
    try {
      await writeFile(join(filled, 'body'), 'half received');
      await rename(filled, killed);
      await deploy();
      expect([killed, alive, foreign].map((path) => existsSync(path))).toEqual([false, true, true]);
    } finally {
      for (const path of [filled, killed, alive, foreign]) await rm(path, { recursive: true, force: true });
    }
  });

  it('fires the schedule with its own input, the time filled in', async () => {
    const deployment = await deploy();
    const result = await deployment.fireSchedule(noon);
    expect(result.attempts).toEqual([
      { requestId: result.requestId, payload: { scheduledTime: '2026-11-20T12:00:00Z' } },
    ]);
    expect(deployment.logs).toEqual(['{"scheduledTime":"2026-11-20T12:00:00Z"}']);
  });

  it('answers an invocation by hand with the error, and retries nothing', async () => {
    const deployment = await deploy();
    expect((await deployment.invoke({ fail: true })).error).toMatchObject({
      errorType: 'Error',
      errorMessage: 'told to',
    });
    expect(deployment.logs).toHaveLength(1);
    expect(deployment.messages).toEqual([]);
  });

  it('sends what failed for good to the failure destination, in Lambda’s own shape', async () => {
    // The policy of another topic, which is the first of the template, refuses nothing here.
    const Statement = { Effect: 'Deny', Principal: '*', Action: 'sns:Publish', Resource: '*' };
    const Properties = { Topics: [{ Ref: 'Other' }], PolicyDocument: { Statement } };
    const other = { Other: { Type: 'AWS::SNS::Topic' }, OtherPolicy: { Type: 'AWS::SNS::TopicPolicy', Properties } };
    const deployment = await deploy({
      edit: (template) => {
        template.Resources = { ...other, ...template.Resources };
      },
    });
    const { requestId } = await deployment.invokeAsync({ fail: true });
    expect(deployment.logs).toHaveLength(2);
    const [message] = deployment.messages;
    expect(message?.to).toMatch(/^arn:aws:sns:eu-central-1:111122223333:small-Topic/);
    expect(JSON.parse(message?.body ?? '')).toEqual({
      version: '1.0',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      requestContext: {
        requestId,
        functionArn: expect.stringMatching(
          /^arn:aws:lambda:eu-central-1:111122223333:function:small-Function.*:\$LATEST$/,
        ),
        condition: 'RetriesExhausted',
        approximateInvokeCount: 2,
      },
      requestPayload: { fail: true },
      responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
      responsePayload: { errorType: 'Error', errorMessage: 'told to', trace: expect.any(Array) },
    });
  });

  it('keeps what goes to a topic outside the stack, if the function’s role may publish to it', async () => {
    const topic = 'arn:aws:sns:eu-central-1:111122223333:on-call';
    const outside = (template: Template) => {
      const [id = ''] = Object.keys(template.Resources).filter((name) => name.startsWith('Topic'));
      const text = JSON.stringify(template.Resources).replaceAll(`{"Ref":"${id}"}`, JSON.stringify(topic));
      template.Resources = JSON.parse(text);
      delete template.Resources[id];
    };
    const deployment = await deploy({ edit: outside });
    await deployment.invokeAsync({ fail: true });
    expect(deployment.messages).toEqual([{ to: topic, body: expect.stringContaining('RetriesExhausted') }]);
    const withoutPermission = await deploy({
      edit: (template) => {
        outside(template);
        remove(template, 'AWS::IAM::Policy', 'FunctionServiceRole');
      },
    });
    await expect(withoutPermission.invokeAsync({ fail: true })).rejects.toThrow(
      `is not authorized to perform: sns:Publish on resource: ${topic}`,
    );
  });

  it('does not fire a schedule that is disabled', async () => {
    const deployment = await deploy({
      edit: (template) => {
        properties(template, 'AWS::Scheduler::Schedule').State = 'DISABLED';
      },
    });
    await expect(deployment.fireSchedule(noon)).rejects.toThrow('Cannot fire the schedule: it is disabled.');
  });

  type Subject = [type: string, prefix?: string];
  const ofFunction: Subject = ['AWS::Lambda::Function'];
  const ofRole: Subject = ['AWS::IAM::Role', 'FunctionServiceRole'];
  const Layers = ['arn:aws:lambda:eu-central-1:1:layer:x:1'];
  const Condition = { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } };
  const PolicyDocument = { Statement: { Effect: 'Deny', Action: '*', Resource: '*', Condition } };
  const ManagedPolicyArns = ['arn:aws:iam::aws:policy/AdministratorAccess'];
  const unsupported = 'UnsupportedTemplateError';

  it.each<[string, Subject, object, RegExp]>([
    [
      'an environment over 4 KB',
      ofFunction,
      { Environment: { Variables: { LARGE: 'ü'.repeat(2048) } } },
      /its environment has 4101 bytes, and Lambda takes at most 4096/,
    ],
    ['a function property that it does not know', ofFunction, { Layers }, /Unrecognized key: "Layers"/],
    ['a time limit over 15 minutes', ofFunction, { Timeout: 901 }, /Timeout/],
    [
      'a role that Lambda may not assume',
      ofRole,
      { AssumeRolePolicyDocument: { Statement: [] } },
      /does not let lambda\.amazonaws\.com assume it/,
    ],
    [
      'a policy it does not understand',
      ['AWS::IAM::Policy', 'FunctionServiceRole'],
      { PolicyDocument },
      /PolicyDocument\.Statement\.0\.Condition.*IpAddress/,
    ],
    [
      'a managed policy that is not in the template',
      ofRole,
      { ManagedPolicyArns },
      /AdministratorAccess permits is not in the template/,
    ],
  ])('refuses to deploy %s', async (_name, of, change, message) => {
    const deploying = deploy({ edit: (template) => void Object.assign(properties(template, ...of), change) });
    await expect(deploying).rejects.toMatchObject({ name: unsupported, message: expect.stringMatching(message) });
  });

  it('refuses to deploy a template without a function', async () => {
    const message = expect.stringContaining('expected one function, found 0');
    const deploying = deploy({ edit: (template) => remove(template, 'AWS::Lambda::Function') });
    await expect(deploying).rejects.toMatchObject({ name: unsupported, message });
  });
});
