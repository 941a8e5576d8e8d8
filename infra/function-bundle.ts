import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack, Stage } from 'aws-cdk-lib';
import { type BundlingOptions, LogLevel, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { type Collection, collectionFile } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';
import { concurrentShards } from './limits';

/** Folder of package-lock.json: the project's own, whatever the current directory is. */
export const projectRoot = join(__dirname, '..');

/** How the function's code is bundled, with the collection file beside it. */
export function functionBundle(scope: Construct, collection: Collection): BundlingOptions {
  const file = writeCollection(scope, collection);
  return {
    // CommonJS, minified, starts fastest. The SDK is bundled, so that what runs is what was tested.
    format: OutputFormat.CJS,
    minify: true,
    bundleAwsSDK: true,
    // The packages' ES modules shake; their CommonJS builds would add a third to the bundle.
    mainFields: ['module', 'main'],
    // Local runs use the developer's own Node.
    target: 'node20',
    sourceMap: true,
    sourcesContent: false,
    logLevel: LogLevel.WARNING,
    commandHooks: {
      beforeBundling: () => [],
      beforeInstall: () => [],
      afterBundling: (_from, to) => [copyCommand(file, join(to, collectionFile))],
    },
  };
}

/**
 * The list of clusters is data and may be megabytes, which no environment variable holds: it travels as a file of its
 * own, and a changed list changes the asset.
 */
function writeCollection(scope: Construct, collection: Collection): string {
  const folder = Stage.of(scope)?.outdir ?? '.';
  const file = join(folder, `${Stack.of(scope).artifactId}.${collectionFile}`);
  if (Stack.of(scope).bundlingRequired) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, JSON.stringify(collection));
  }
  return file;
}

/** For the shells CDK runs hooks in: bash, and cmd on Windows. */
function copyCommand(from: string, to: string): string {
  if (process.platform === 'win32') return `copy /y "${from}" "${to}"`;
  const quote = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`;
  return `cp ${quote(from)} ${quote(to)}`;
}

/** The configuration as far as the function needs it. The request rate is the fleet's: each shard takes its part. */
export function collectionOf(config: CollectorConfig): Collection {
  const { service, clusters, limits, archive, shards, schedule } = config;
  const { baseUrl, projectUid, collection, caCertificate } = service;
  const { requestsPerSecond } = limits;
  return {
    service: { baseUrl, projectUid, collection, caCertificate },
    clusters,
    limits: {
      ...limits,
      ...(requestsPerSecond !== undefined && { requestsPerSecond: requestsPerSecond / concurrentShards(shards) }),
    },
    compression: archive.compression,
    schedule,
    retentionDays: archive.retentionDays,
  };
}
