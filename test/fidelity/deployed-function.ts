import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { environmentNames } from '../../lambda/stack-contract';
import { startLocalAws } from '../../local/aws/local-aws';
import type { InvocationResult } from '../../local/deployment/execution-environment';
import { LocalFunction } from '../../local/deployment/local-function';
import { assetBucket, type DeployedConfiguration, type MotoAccount, region } from './moto-account';

/** A deployed function: its code and its configuration, downloaded from the account. */
export interface DeployedFunction {
  readonly configuration: DeployedConfiguration;
  readonly codeFolder: string;
}

/**
 * Downloads and unpacks the code of a function of the stack. Fails if the hash of the function's code is another one.
 * @param functionName as the account knows it
 * @param objectKey of the zip file in the bucket of assets, because moto cannot return the function's own copy
 * @param codeFolder is created
 */
export async function downloadFunction(
  account: MotoAccount,
  functionName: string,
  objectKey: string,
  codeFolder: string,
): Promise<DeployedFunction> {
  const configuration = await account.configurationOf(functionName);
  const { Body } = await account.s3.send(new GetObjectCommand({ Bucket: assetBucket, Key: objectKey }));
  const archive = (await Body?.transformToByteArray()) ?? new Uint8Array();
  expect(configuration.CodeSha256).toBe(createHash('sha256').update(archive).digest('base64'));
  const file = `${codeFolder}.zip`;
  writeFileSync(file, archive);
  // Node cannot unpack zip files. Python can, and is installed where moto is.
  const unpacked = spawnSync('python3', ['-m', 'zipfile', '-e', file, codeFolder], { encoding: 'utf8' });
  if (unpacked.status !== 0) throw new Error(`Unpacking ${file} failed: ${unpacked.stderr}`);
  return { configuration, codeFolder };
}

/** The content of every file in a folder, by name. */
export function filesOf(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/**
 * Invokes the function once. The deployed policies of its role are enforced on every call to S3 and Secrets Manager; KMS
 * and SNS are moto's, which enforces none.
 * @param archiveFolder gets the archive's objects
 */
export async function invokeDeployed(
  account: MotoAccount,
  { configuration, codeFolder }: DeployedFunction,
  { apiKey, archiveFolder, event }: { apiKey: string; archiveFolder: string; event: object },
): Promise<InvocationResult> {
  const { FunctionName: name, Role: roleArn, Environment } = configuration;
  const environment: Readonly<Record<string, string>> = {
    ...Environment.Variables,
    AWS_ENDPOINT_URL_KMS: account.url,
    AWS_ENDPOINT_URL_SNS: account.url,
  };
  const bucket = environment[environmentNames.archiveBucket] ?? '';
  const secret = environment[environmentNames.apiKeySecret] ?? '';
  const policies = await account.policiesOf(roleArn.split('/').at(-1) ?? '');
  const credentials = { accessKeyId: 'ASIADEPLOYED', secretAccessKey: 'deployed-secret', sessionToken: 'deployed' };
  const role = { ...credentials, arn: roleArn, policies };
  const aws = await startLocalAws({
    region,
    principals: [role],
    buckets: [{ name: bucket, folder: archiveFolder }],
    secrets: [{ arn: secret, value: apiKey }],
  });
  const lambda = new LocalFunction({
    definition: {
      ...{ name, arn: configuration.FunctionArn, role, environment },
      codeFolder,
      handler: configuration.Handler,
      timeoutSeconds: configuration.Timeout,
      memoryMiB: configuration.MemorySize,
      logGroup: 'not-in-moto',
      ...{ reservedConcurrency: undefined, asynchronous: undefined },
    },
    ...{ endpoint: aws.url, region },
    onLine: () => undefined,
  });
  try {
    return await lambda.invoke(event);
  } finally {
    await lambda.close();
    await aws.close();
  }
}
