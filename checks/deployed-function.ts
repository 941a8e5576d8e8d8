import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { environmentNames } from '../lambda/stack-contract';
import { startLocalAws } from '../local/aws/local-aws';
import { type InvocationResult, LocalFunction } from '../local/deployment/local-function';
import { accountId, assetBucket, type DeployedConfiguration, type MotoAccount, region } from './moto-account';

/** A function as it was deployed: its code and everything that it runs with, taken back from the account. */
export interface DeployedFunction {
  readonly configuration: DeployedConfiguration;
  readonly codeFolder: string;
}

/**
 * Unpacks the code that the stack's function was created with.
 * @param codeFolder absent so far
 * @param objectKey of the archive in the bucket of assets: moto has no other copy that can be fetched
 * @throws AssertionError if the function has another code
 */
export async function takeBackFunction(
  account: MotoAccount,
  stackName: string,
  objectKey: string,
  codeFolder: string,
): Promise<DeployedFunction> {
  const resource = (await account.resourcesOf(stackName)).find(({ type }) => type === 'AWS::Lambda::Function');
  assert.ok(resource, 'the stack has no function');
  const configuration = await account.configurationOf(resource.physicalId);
  const { Body } = await account.s3.send(new GetObjectCommand({ Bucket: assetBucket, Key: objectKey }));
  const archive = (await Body?.transformToByteArray()) ?? new Uint8Array();
  assert.equal(configuration.CodeSha256, createHash('sha256').update(archive).digest('base64'));
  const file = `${codeFolder}.zip`;
  writeFileSync(file, archive);
  // Where moto is, Python is; Node cannot unpack.
  const unpacked = spawnSync('python3', ['-m', 'zipfile', '-e', file, codeFolder], { encoding: 'utf8' });
  assert.equal(unpacked.status, 0, unpacked.stderr);
  return { configuration, codeFolder };
}

/** The files of a folder with their content. */
export function filesOf(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/**
 * Invokes it once, with the role's policies as they were deployed enforced on every call.
 * @param archiveFolder where the archive's objects lie
 */
export async function invokeDeployed(
  account: MotoAccount,
  { configuration, codeFolder }: DeployedFunction,
  { apiKey, archiveFolder, event }: { apiKey: string; archiveFolder: string; event: object },
): Promise<InvocationResult> {
  const { FunctionName: name, Role: roleArn, Environment } = configuration;
  const environment = Environment.Variables;
  const bucket = environment[environmentNames.archiveBucket] ?? '';
  const secret = environment[environmentNames.apiKeySecret] ?? '';
  const role = { accessKeyId: 'ASIADEPLOYED', secretAccessKey: 'deployed-secret', sessionToken: 'deployed-session' };
  const policies = await account.policiesOf(roleArn.split('/').at(-1) ?? '');
  const aws = await startLocalAws({
    ...{ region, accountId },
    principals: [{ ...role, arn: roleArn, policies }],
    buckets: [{ name: bucket, folder: archiveFolder }],
    secrets: [{ name: secret.split(':').at(-1) ?? '', arn: secret, value: apiKey }],
  });
  const lambda = new LocalFunction({
    definition: {
      ...{ name, arn: configuration.FunctionArn, roleArn, environment },
      code: { folder: codeFolder },
      handler: configuration.Handler,
      timeoutSeconds: configuration.Timeout,
      memoryMiB: configuration.MemorySize,
      logGroup: 'not-in-moto',
    },
    ...{ endpoint: aws.url, region, credentials: role },
    onLine: () => undefined,
  });
  try {
    return await lambda.invoke(event);
  } finally {
    await lambda.close();
    await aws.close();
  }
}
