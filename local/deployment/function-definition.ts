import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { readRole } from './role';
import type { StackResource, StackTemplate } from './stack-template';

const invokeConfigSchema = z.strictObject({
  DestinationConfig: z.strictObject({ OnFailure: z.strictObject({ Destination: z.string() }).optional() }).optional(),
  FunctionName: z.string(),
  MaximumEventAgeInSeconds: z.int().min(60).max(21_600).optional(),
  MaximumRetryAttempts: z.int().min(0).max(2).optional(),
  Qualifier: z.literal('$LATEST'),
});

const propertiesSchema = z.strictObject({
  Code: z.strictObject({ S3Bucket: z.unknown(), S3Key: z.string() }),
  Environment: z.strictObject({ Variables: z.record(z.string(), z.string()).default({}) }).optional(),
  Handler: z.string(),
  LoggingConfig: z.looseObject({ LogGroup: z.string().optional() }).optional(),
  MemorySize: z.int().min(128).max(10_240).default(128),
  ReservedConcurrentExecutions: z.int().min(1).optional(),
  Role: z.string(),
  Runtime: z.string().regex(/^nodejs/, 'only Node.js runs locally'),
  Timeout: z.int().min(1).max(900).default(3),
});

const ignored = ['Architectures', 'Description', 'EphemeralStorage', 'FunctionName', 'Tags', 'VpcConfig'];

/**
 * What the template says about a function.
 * @param directory of the assembly, which holds the function's files
 * @throws UnsupportedTemplateError for what Lambda would reject or a local deployment does not know
 */
export function readFunction(stack: StackTemplate, resource: StackResource, directory: string) {
  const properties = resource.read(propertiesSchema, ignored);
  const { ref: name, arn } = resource.identity;
  return {
    name,
    arn,
    /** With the credentials of its calls to the endpoint. */
    role: {
      ...readRole(stack, properties.Role, 'lambda.amazonaws.com', arn),
      accessKeyId: `ASIA${resource.logicalId.toUpperCase()}`,
      secretAccessKey: 'local-secret',
      sessionToken: 'local-session',
    },
    /** What Lambda would mount as the task root. */
    codeFolder: join(directory, folderOf(properties.Code.S3Key, directory)),
    /** File and export: `index.handler`. */
    handler: properties.Handler,
    environment: properties.Environment?.Variables ?? {},
    timeoutSeconds: properties.Timeout,
    memoryMiB: properties.MemorySize,
    logGroup: properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`,
    /** Of asynchronous invocations; undefined, and what is left out in it: Lambda's own defaults. */
    asynchronous: stack
      .resourcesOf('AWS::Lambda::EventInvokeConfig')
      .map((config) => config.read(invokeConfigSchema))
      .find(({ FunctionName }) => FunctionName === name),
  };
}

/** The CDK gives a folder and the archive that it is uploaded as the same hash. */
function folderOf(objectKey: string, directory: string): string {
  const asset = `asset.${basename(objectKey, '.zip')}`;
  return readdirSync(directory).find((name) => name.startsWith(asset)) ?? asset;
}

export type FunctionDefinition = ReturnType<typeof readFunction>;
