import type { App } from 'aws-cdk-lib';
import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from 'aws-lambda';
import { type Resource, resourceNames, resources } from '../../archive/format/resources';
import { createApp } from '../../infra/collector-app';
import { parseConfig } from '../../infra/config/config';
import { Aws } from '../../sandbox/aws';
import { clusters, slowCluster } from '../../sandbox/clusters';
import { writeConfig } from '../../sandbox/deploy-steps';
import { serviceStack } from '../../sandbox/service-stack';
import { DryShell } from '../../sandbox/shell';
import { resourceOf, resourcesOf, type TemplateJson } from '../infra/example-stack';

const env = { account: '111122223333', region: 'eu-central-1' };
const name = 'sandbox-0a1b2c';
const tag = { Key: 'cluster-log-collector-sandbox', Value: name };

/** Kinds of resources that have no tags, or are no resources of their own. */
const untagged = /Policy$|Permission$|Alias$|::Url$|EventInvokeConfig$|Schedule$|Subscription$|Metadata$/;

const withoutTag = ({ Resources }: TemplateJson) =>
  Object.entries(Resources).flatMap(([id, { Type, Properties }]) =>
    untagged.test(Type) || JSON.stringify(Properties.Tags ?? '').includes(JSON.stringify(tag)) ? [] : `${Type} ${id}`,
  );

class KeepingShell extends DryShell {
  readonly written: Record<string, string> = {};

  override write(file: string, content: string): string {
    this.written[file] = content;
    return file;
  }
}

describe('the stack beside a sandbox', () => {
  const app = serviceStack(name, env, 'the key').node.root as App;
  const [{ template } = { template: { Resources: {} } }] = app.synth().stacks;

  it('has the tag on everything that can have one, so that nothing is left unseen', () => {
    expect(withoutTag(template)).toEqual([]);
    expect(resourcesOf(template, 'AWS::S3::Bucket')).toHaveLength(1);
  });

  it("lets everybody ask the service, and the account's topics write into the queue", () => {
    expect(resourceOf(template, 'AWS::Lambda::Url').Properties).toMatchObject({ AuthType: 'NONE' });
    const statements = JSON.stringify(resourceOf(template, 'AWS::SQS::QueuePolicy').Properties);
    expect(statements).toContain('"Condition":{"StringEquals":{"aws:SourceAccount":"111122223333"}}');
  });

  it('answers the two calls for each cluster, behind the address of a function, and nobody without the key', async () => {
    process.env.API_KEY = 'the key';
    const { handler, service } = await import('../../sandbox/service-function');
    const ask = async (uid: string, resource: Resource, key: string) => {
      const rawPath = `/v1/platformclusters/${uid}/${resources[resource].path}`;
      const event = { rawPath, rawQueryString: 'requestId=one', headers: { apikey: key, host: 'function' } };
      return (await handler(event as unknown as LambdaFunctionURLEvent)) as Exclude<LambdaFunctionURLResult, string>;
    };
    for (const uid of clusters.filter((one) => one !== slowCluster))
      for (const resource of resourceNames) expect((await ask(uid, resource, 'the key')).statusCode).toBe(200);
    const log = JSON.parse((await ask('sandbox-one', 'log', 'the key')).body ?? '');
    expect(log).toMatchObject({ spec: { clusterUid: 'sandbox-one' }, metadata: { annotations: { requestId: 'one' } } });
    expect((await ask('sandbox-one', 'log', 'another')).statusCode).toBe(401);
    await (await service).close();
  });
});

describe('the collector of a sandbox', () => {
  it.each([
    ['at first', {}],
    ['taken over', { signingKeyArn: 'arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000' }],
  ])('is configured so that it can be deployed, with the tag: %s', async (_, audit) => {
    const shell = new KeepingShell('', () => undefined);
    const sandbox = { ...env, name, shell, aws: new Aws(shell, env.region), apiKey: 'k', say: () => undefined };
    const file = await writeConfig(sandbox, audit);
    const json = JSON.parse(shell.written[file] ?? '');
    json.clusters.from = json.clusters.from.toLowerCase();
    json.service.baseUrl = json.service.baseUrl.toLowerCase();
    const config = parseConfig(json, file);
    const { app } = createApp({ config, validate: false, context: { 'aws:cdk:bundling-stacks': [] } });
    const { template, tags } = app.synth().getStackByName(name);
    // CloudFormation hands the tags of a stack on to its resources.
    expect(tags).toEqual({ [tag.Key]: name });
    expect(resourcesOf(template, 'AWS::SNS::Topic')).toHaveLength(2);
  });
});
