import { clusters } from './clusters';
import { accountFile, sandboxTag } from './sandbox-account';
import { cdk, type Sandbox, type Step } from './step';

/** The configuration of the collector, as a file. */
export async function writeConfig(sandbox: Sandbox, audit: object = {}): Promise<string> {
  const { ServiceUrl = '', ListBucket } = await sandbox.aws.outputsOf(`${sandbox.name}-service`);
  const config = {
    name: sandbox.name,
    service: { baseUrl: ServiceUrl.replace(/\/$/, '') },
    clusters: { from: `s3://${ListBucket}/${listKey}` },
    schedule: { expression: 'cron(0/10 * * * ? *)' },
    archive: { kms: true },
    alerts: { page: {}, inform: {} },
    audit: { schedule: 'cron(30 6 * * ? *)', ...audit },
    deployTo: { account: sandbox.account, region: sandbox.region },
    tags: { [sandboxTag]: sandbox.name },
  };
  return sandbox.shell.write('collector.json', JSON.stringify(config, undefined, 2));
}

const listKey = 'clusters.json';

/** Puts a list of clusters where the function reads it. */
export async function putList({ aws, shell, name }: Sandbox, list: readonly string[]): Promise<void> {
  const { ListBucket = '' } = await aws.outputsOf(`${name}-service`);
  const body = shell.write(listKey, JSON.stringify(list));
  await aws.do(['s3api', 'put-object', '--bucket', ListBucket, '--key', listKey, '--body', body]);
}

/** Deploys the collector as it is configured. @returns the file with its configuration */
export async function deployCollector(sandbox: Sandbox, audit: object = {}): Promise<string> {
  const file = await writeConfig(sandbox, audit);
  await cdk(sandbox, ['deploy', '-c', 'deploy=true', '-c', `config=${file}`, '--require-approval', 'never']);
  return file;
}

export const deploySteps: readonly Step[] = [
  {
    name: 'service',
    minutes: 3,
    usage: { writes: 10 },
    isNeeded: true,
    work: async (sandbox) => {
      const { name, account, region, apiKey } = sandbox;
      const app = ['--app', 'node --import tsx sandbox/service-app.ts', '--output', 'cdk.out/sandbox-service'];
      await cdk(sandbox, ['deploy', `${name}-service`, ...app, '--require-approval', 'never'], {
        ...{ SANDBOX_NAME: name, SANDBOX_ACCOUNT: account, SANDBOX_REGION: region, SANDBOX_KEY: apiKey },
      });
      await putList(sandbox, clusters);
      return `the demo service, a list of ${clusters.length} clusters and a queue are deployed, as ${accountFile} says`;
    },
  },
  {
    name: 'deployment',
    minutes: 5,
    usage: { writes: 20 },
    isNeeded: true,
    work: async (sandbox) => {
      const { aws, name, shell, apiKey } = sandbox;
      await deployCollector(sandbox);
      const secret = await aws.idOf(name, 'AWS::SecretsManager::Secret', 'ApiKeySecret');
      const value = `file://${shell.write('key', apiKey)}`;
      await aws.do(['secretsmanager', 'put-secret-value', '--secret-id', secret, '--secret-string', value]);
      const { AlertTopic = '', InformTopic = '' } = await aws.outputsOf(name);
      const { QueueArn = '' } = await aws.outputsOf(`${name}-service`);
      for (const topic of [AlertTopic, InformTopic]) {
        const to = ['--protocol', 'sqs', '--notification-endpoint', QueueArn];
        await aws.do(['sns', 'subscribe', '--topic-arn', topic, ...to]);
      }
      return 'the stack is deployed, the key is set, and a queue subscribes to both topics';
    },
  },
];
