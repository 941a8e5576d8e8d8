import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetBucketEncryptionCommand, GetObjectCommand, ListBucketsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { CreateSecretCommand, DescribeSecretCommand } from '@aws-sdk/client-secrets-manager';
import type { RunSummary } from '../lambda/run/run-record';
import { demoContent } from '../local/demo-service/demo-content';
import { startDemoService } from '../local/demo-service/start-demo-service';
import { readAssembly } from '../local/deployment/read-assembly';
import { type MotoServer, startMoto } from '../test/local/aws/moto-server';
import { type CdkCommand, startCdkCommand } from './cdk-command';
import { filesOf, invokeDeployed, takeBackFunction } from './deployed-function';
import { accountId, type DeployedConfiguration, MotoAccount, region } from './moto-account';
import { passedOver, prepareAssembly, workarounds } from './moto-workarounds';
import { step } from './step';

const stackName = 'moto-check';
const apiKey = 'the-api-key-of-the-check';

/**
 * Runs `cdk bootstrap`, `deploy`, an update and `destroy` against moto, and invokes what was deployed. moto runs no
 * function without Docker: its code, environment and role policies are taken back and run by the local deployment's
 * runner.
 * @param command path of moto_server
 * @throws AssertionError for whatever is not as it has to be
 */
export async function deployIntoMoto(command: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'moto-check-'));
  const demo = await startDemoService({ apiKey, source: demoContent() });
  let moto: MotoServer | undefined;
  let cdk: CdkCommand | undefined;
  try {
    moto = await startMoto(command);
    cdk = await startCdkCommand(moto.url, folder);
    await deployAll(new Deployment(folder, new MotoAccount(moto.url), cdk, demo.url));
  } finally {
    await cdk?.close();
    await moto?.stop();
    await demo.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Collected {
  readonly configuration: DeployedConfiguration;
  /** The list in the deployed code. */
  readonly clusters: unknown;
  readonly summary: RunSummary;
}

class Deployment {
  constructor(
    readonly folder: string,
    readonly account: MotoAccount,
    readonly cdk: CdkCommand,
    private readonly baseUrl: string,
  ) {}

  /** Synthesises with the command line, and gives the folder of the assembly. */
  async synthesise(clusters: readonly string[]): Promise<string> {
    const assembly = join(this.folder, `assembly-${clusters.length}`);
    const config = join(this.folder, `config-${clusters.length}.json`);
    const schedule = { expression: 'cron(0 * * * ? *)' };
    writeFileSync(config, JSON.stringify({ name: stackName, service: { baseUrl: this.baseUrl }, clusters, schedule }));
    await this.cdk.run(['synth', '-q', '-c', `config=${config}`, '-o', assembly]);
    return assembly;
  }

  deploy(assembly: string): Promise<string> {
    return this.cdk.run([
      'deploy',
      '--app',
      assembly,
      '--method',
      'direct',
      '--no-previous-parameters',
      '--require-approval',
      'never',
    ]);
  }

  async physicalIdOf(logicalPrefix: string): Promise<string> {
    const resources = await this.account.resourcesOf(stackName);
    return resources.find(({ logicalId }) => logicalId.startsWith(logicalPrefix))?.physicalId ?? '';
  }

  /** Takes the function back from the account and lets it collect once. */
  async collect(assembly: string): Promise<Collected> {
    const { template, assetFolder } = readAssembly(assembly);
    const properties = Object.values(template.Resources).find(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    )?.Properties;
    const { S3Key } = properties?.Code as { S3Key: string };
    const taken = await takeBackFunction(this.account, stackName, S3Key, `${assembly}-deployed`);
    const files = filesOf(taken.codeFolder);
    assert.deepEqual(files, filesOf(assetFolder(S3Key)));
    const archiveFolder = `${assembly}-archive`;
    const { payload, error } = await invokeDeployed(this.account, taken, { apiKey, archiveFolder, event: {} });
    assert.equal(error, undefined, error?.errorMessage);
    const { clusters } = JSON.parse(files['collection.json'] ?? '');
    return { configuration: taken.configuration, clusters, summary: payload as RunSummary };
  }
}

async function deployAll(deployment: Deployment): Promise<void> {
  const { account, cdk } = deployment;
  const assembly = await step('cdk synth', () => deployment.synthesise(['alpha', 'beta']));
  const secret = await account.secrets.send(new CreateSecretCommand({ Name: 'moto-check-key', SecretString: apiKey }));
  const template = prepareAssembly(assembly, secret.ARN ?? '');
  await step('cdk bootstrap', () => cdk.run(['bootstrap', '--app', assembly, `aws://${accountId}/${region}`]));
  await step('cdk deploy', () => deployment.deploy(assembly));
  await step('moto has made everything that is not known to be passed over', async () =>
    assert.deepEqual(await passedOver(account, stackName, template), []),
  );
  for (const [what, { isNeeded }] of Object.entries(workarounds))
    await step(`worked around: ${what}`, async () =>
      assert.ok(await isNeeded(account, stackName, template), 'moto can do it now: take the workaround out'),
    );

  const bucket = await deployment.physicalIdOf('ArchiveBucket');
  await step('the archive is encrypted', async () => {
    const encryption = await account.s3.send(new GetBucketEncryptionCommand({ Bucket: bucket }));
    const [rule] = encryption.ServerSideEncryptionConfiguration?.Rules ?? [];
    assert.equal(rule?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm, 'AES256');
  });
  await step("the outputs name the archive's bucket and the function", async () => {
    const outputs = await account.outputsOf(stackName);
    assert.equal(outputs?.ArchiveBucket, bucket);
    assert.ok(outputs?.CollectNow?.includes(await deployment.physicalIdOf('CollectorFunction')));
  });
  const first = await step('the deployed code is the asset, and collects with the deployed role', async () => {
    const collected = await deployment.collect(assembly);
    assert.equal(collected.summary.counts.archived, 4);
    assert.ok(collected.summary.record?.startsWith(`s3://${bucket}/runs/`));
    return collected;
  });

  const resources = await account.resourcesOf(stackName);
  await step('cdk deploy of a changed list of clusters updates the code and replaces nothing', async () => {
    const changed = await deployment.synthesise(['alpha', 'beta', 'gamma']);
    prepareAssembly(changed, secret.ARN ?? '');
    await deployment.deploy(changed);
    const second = await deployment.collect(changed);
    assert.deepEqual(
      second.clusters,
      ['alpha', 'beta', 'gamma'].map((uid) => ({ uid })),
    );
    assert.notEqual(second.configuration.CodeSha256, first.configuration.CodeSha256);
    assert.equal(second.summary.counts.archived, 6);
    assert.deepEqual(await account.resourcesOf(stackName), resources);
  });

  const object = { Bucket: bucket, Key: 'logs/kept' };
  await account.s3.send(new PutObjectCommand({ ...object, Body: 'kept' }));
  await step('cdk destroy', () => cdk.run(['destroy', '--app', assembly, '--force']));
  await step(
    'the buckets, what is in them, and the secret are still there; the stack and its function are not',
    async () => {
      assert.equal(await account.outputsOf(stackName), undefined);
      await assert.rejects(account.configurationOf(first.configuration.FunctionName), /404/);
      const { Buckets = [] } = await account.s3.send(new ListBucketsCommand({}));
      assert.equal(Buckets.filter(({ Name }) => Name?.startsWith(stackName)).length, 2);
      const kept = await account.s3.send(new GetObjectCommand(object));
      assert.equal(await kept.Body?.transformToString(), 'kept');
      await account.secrets.send(new DescribeSecretCommand({ SecretId: secret.ARN }));
    },
  );
  await step('nobody but moto was called', () => assert.deepEqual(cdk.callsElsewhere, []));
}
