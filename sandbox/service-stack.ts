import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CfnOutput, Duration, RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, FunctionUrlAuthType, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { BlockPublicAccess, Bucket } from 'aws-cdk-lib/aws-s3';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { buildSync } from 'esbuild';
import { bundling, projectRoot } from '../infra/function-bundle';
import { type SandboxAccount, sandboxTag } from './sandbox-account';

/** What a collector needs beside it to be tried: a service, a bucket with a list of clusters, and a queue for its alarms. */
export function serviceStack(name: string, env: SandboxAccount, apiKey: string): Stack {
  const stack = new Stack(new App({ analyticsReporting: false }), `${name}-service`, { env });
  Tags.of(stack).add(sandboxTag, name);
  const service = new LambdaFunction(stack, 'Service', {
    code: Code.fromAsset(bundledService()),
    handler: 'index.handler',
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    timeout: Duration.seconds(30),
    environment: { API_KEY: apiKey },
    logGroup: new LogGroup(stack, 'Logs', { retention: RetentionDays.ONE_DAY, removalPolicy: RemovalPolicy.DESTROY }),
  });
  const { url } = service.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
  // The sandbox empties and removes every bucket that has its tag.
  const list = new Bucket(stack, 'List', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    versioned: true,
    removalPolicy: RemovalPolicy.RETAIN,
  });
  const queue = new Queue(stack, 'Messages', { enforceSSL: true });
  queue.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('sns.amazonaws.com')],
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      conditions: { StringEquals: { 'aws:SourceAccount': env.account } },
    }),
  );
  const outputs = { ServiceUrl: url, ListBucket: list.bucketName, QueueUrl: queue.queueUrl, QueueArn: queue.queueArn };
  for (const [output, value] of Object.entries(outputs)) new CfnOutput(stack, output, { value });
  return stack;
}

function bundledService(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-service-'));
  const entryPoints = [join(projectRoot, 'sandbox', 'service-function.ts')];
  buildSync({ ...bundling, entryPoints, outfile: join(folder, 'index.js') });
  return folder;
}
