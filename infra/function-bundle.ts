import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack, Stage } from 'aws-cdk-lib';
import { type BundlingOptions, LogLevel, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import type { AuditPlan, Collection } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';
import { concurrentShards } from './limits';

type AuditConfig = NonNullable<CollectorConfig['audit']>;

/** The project's folder, with package-lock.json, whatever the current directory is. */
export const projectRoot = join(__dirname, '..');

/** What a function reads as JSON from beside its code. */
export interface DataFile {
  readonly name: string;
  readonly content: Collection | AuditPlan;
}

/** Options that bundle a function's code and put its data file beside it. */
export function functionBundle(scope: Construct, dataFile: DataFile): BundlingOptions {
  const file = writeDataFile(scope, dataFile);
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
      afterBundling: (_from, to) => [copyCommand(file, join(to, dataFile.name))],
    },
  };
}

/**
 * Writes the data file. The list of clusters may be megabytes, and environment variables end at 4 KB. As a file
 * beside the code, a changed list changes the asset, and so a deployment takes effect.
 * @returns the file's path
 */
function writeDataFile(scope: Construct, { name, content }: DataFile): string {
  const folder = Stage.of(scope)?.outdir ?? '.';
  const file = join(folder, `${Stack.of(scope).artifactId}.${name}`);
  if (Stack.of(scope).bundlingRequired) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, JSON.stringify(content));
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

/** The part of the configuration that the audit judges the archive by. */
export function auditPlanOf(
  { clusters, schedule, archive, shards }: CollectorConfig,
  { schedule: expression, timeZone = schedule.timeZone, ...settings }: AuditConfig,
): AuditPlan {
  return {
    clusters: clusters.map(({ uid, resources, optional }) => ({ uid, resources, optional })),
    schedule,
    auditSchedule: { expression, timeZone, enabled: true },
    retentionDays: archive.retentionDays,
    shards,
    ...settings,
  };
}
