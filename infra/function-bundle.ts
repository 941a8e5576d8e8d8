import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack, Stage } from 'aws-cdk-lib';
import { type BundlingOptions, LogLevel, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { type Collection, collectionFile } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';
import { concurrentShards } from './limits';

/** The project's folder, with package-lock.json, whatever the current directory is. */
export const projectRoot = join(__dirname, '..');

/** Options that bundle the function's code and put the collection file beside it. */
export function functionBundle(scope: Construct, collection: Collection): BundlingOptions {
  const file = writeCollection(scope, collection);
  return {
    // Measured: CommonJS, minified, starts fastest. The SDK is bundled, so that the tested version runs.
    format: OutputFormat.CJS,
    minify: true,
    bundleAwsSDK: true,
    // esbuild removes unused code from ES modules only; the CommonJS builds would make the bundle a third larger.
    mainFields: ['module', 'main'],
    // A local run uses the Node of the machine, which may be 20.
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
 * Writes the collection file. The list of clusters may be megabytes, and environment variables end at 4 KB. As a file
 * beside the code, a changed list changes the asset, and so a deployment takes effect.
 * @returns the file's path
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

/** A command for the shells in which CDK runs hooks: bash, and cmd on Windows. */
function copyCommand(from: string, to: string): string {
  if (process.platform === 'win32') return `copy /y "${from}" "${to}"`;
  const quote = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`;
  return `cp ${quote(from)} ${quote(to)}`;
}

/** The part of the configuration that the function needs. The request rate is of the whole fleet; each shard gets a share. */
export function collectionOf({ service, clusters, limits, archive, shards, schedule }: CollectorConfig): Collection {
  const { baseUrl, projectUid, collection, caCertificate, acceptCompressed } = service;
  const { requestsPerSecond } = limits;
  return {
    service: { baseUrl, projectUid, collection, caCertificate, ...(!acceptCompressed && { acceptCompressed }) },
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
