import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Construct } from 'constructs';
import { findStack } from '../../../cli/stack/find-stack';
import { ClusterLogCollector } from '../../../infra/cluster-log-collector';
import { listenLocally } from '../../../local/listen-locally';
import { minimal } from '../../infra/example-config';
import type { TemplateJson } from '../../infra/example-stack';
import { members } from './control-plane';

/** A stack as CloudFormation describes it: an output's value is its name, and a resource's physical id its logical one. */
function answersOf(template: TemplateJson): Record<string, string> {
  const outputs = members(Object.keys(template.Outputs ?? {}), (OutputKey) => ({ OutputKey, OutputValue: OutputKey }));
  const StackId = 'arn:aws:cloudformation:eu-central-1:111122223333:stack/Platform/1';
  const stack = { StackName: 'Platform', StackId, StackStatus: 'CREATE_COMPLETE', Outputs: outputs };
  const resources = Object.entries(template.Resources).map(([id, { Type }]) => ({
    ...{ LogicalResourceId: id, PhysicalResourceId: id, ResourceType: Type, ResourceStatus: 'CREATE_COMPLETE' },
  }));
  return {
    DescribeStacks: `<Stacks>${members([stack], (one) => one)}</Stacks>`,
    ListStackResources: `<StackResourceSummaries>${members(resources, (one) => one)}</StackResourceSummaries>`,
  };
}

describe('finding a collector', () => {
  let server: Server;
  let answers: Record<string, string>;

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const action = new URLSearchParams(await text(request)).get('Action') ?? '';
      response.end(`<${action}Response><${action}Result>${answers[action]}</${action}Result></${action}Response>`);
    });
    process.env.AWS_ENDPOINT_URL_CLOUDFORMATION = (await listenLocally(server)).url;
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'eu-central-1' });
  });
  afterAll(() => server.close());

  /** A stack with a collector at each path, such as `Logs` or `Fleet/Logs`. */
  function deploy(...paths: string[]): void {
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, builtinCloudFormationValidation: false });
    const stack = new Stack(app, 'Platform');
    for (const path of paths) {
      const [id = '', ...outer] = path.split('/').reverse();
      const scope = outer.reduceRight<Construct>((inside, name) => new Construct(inside, name), stack);
      new ClusterLogCollector(scope, id, {
        ...minimal,
        name: path.replace('/', '-'),
        shards: 2,
        archive: { kms: true },
      });
    }
    answers = answersOf(Template.fromStack(stack).toJSON() as TemplateJson);
  }

  // The last ones: CDK writes an id once where the next one says it again.
  it.each([
    'Default',
    'Logs',
    'Fleet/Logs',
    'my-logs',
    'Collector',
    'Archive',
  ])('finds the only one of a stack, wherever it is: %s', async (path) => {
    deploy(path);
    const found = await findStack({ name: 'Platform' });
    expect(found.functionName).toMatch(/CollectorFunction[0-9A-F]{8}$/);
    expect(found.archiveBucket).toMatch(/ArchiveBucket$/);
    expect(found.stateMachineArn).toMatch(/FanOutStateMachine[0-9A-F]{8}$/);
    expect(found.alertTopicArn).toMatch(/AlertTopic$/);
  });

  it('finds each of two by its place, with the name that finds it again', async () => {
    deploy('Collector', 'Lab');
    for (const name of ['Platform/Collector', 'Platform/Lab']) {
      const found = await findStack({ name });
      const start = name.split('/')[1];
      expect(found.name).toBe(name);
      for (const one of [found.functionName, found.archiveBucket, found.stateMachineArn])
        expect(one).toMatch(new RegExp(`^${start}`));
    }
  });

  it('guesses at none of two', async () => {
    deploy('Collector', 'Lab');
    await expect(findStack({ name: 'Platform' })).rejects.toThrow(
      'it has 2; expected --stack Platform/Collector or Platform/Lab',
    );
  });

  it('names the place that has none', async () => {
    deploy('Lab');
    await expect(findStack({ name: 'Platform/Labs' })).rejects.toThrow(
      'the stack Platform/Labs failed: it has no function',
    );
  });
});
