import { Size } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type CollectorEnvironment, configurationFile, metricNames, metricNamespace } from '../lambda/stack-contract';
import type { ApiKeySecret } from './api-key-secret';
import type { Archive } from './archive';
import type { CollectorConfig } from './config/config';
import type { OutsideList } from './config/service-members';
import { configurationOf } from './configuration-of';
import type { FailureMessages } from './failure-messages';
import { provideHeartbeat } from './heartbeat';
import { concurrentShards, memoryMiB, temporaryStorageMiB } from './limits';
import { createNodeFunction } from './node-function';
import { allow, through } from './policy-statements';
import { addressText, type StackAddress } from './stack-address';

export interface CollectorProps {
  readonly config: CollectorConfig;
  readonly address: StackAddress;
  readonly archive: Archive;
  readonly apiKeySecret: ApiKeySecret;
  /** Gets the events that fail for good. */
  readonly failures: FailureMessages;
}

/**
 * The function that works on a run, with its role and its log group.
 *
 * Grants stand with the construct that they give access to: Archive, ApiKeySecret and FailureMessages each add theirs to
 * the role. test/infra/collector.test.ts lists them all.
 */
export class Collector extends Construct {
  readonly function: IFunction;
  readonly logGroup: LogGroup;
  readonly #name: string;

  constructor(scope: Construct, id: string, { config, address, archive, apiKeySecret, failures }: CollectorProps) {
    super(scope, id);
    const { function: target, logGroup } = createNodeFunction(this, {
      config,
      description: `Archives the logs and manifests of the clusters of ${config.name}`,
      entry: 'collect/handler.ts',
      dataFile: { name: configurationFile, content: configurationOf(config) },
      memoryMiB: memoryMiB(config.limits),
      temporaryStorage: Size.mebibytes(temporaryStorageMiB(config.limits)),
      // As many as one run has.
      reservedConcurrency: config.limits.oneRunAtATime ? concurrentShards(config.shards) : undefined,
      onFailure: (role) => failures.destinationFor(role),
      roleDescription:
        'What the log collector may do: add to its archive, read its run records, its key and nothing else',
      provide: (role): CollectorEnvironment => {
        if (config.clusterList !== undefined) allowList(role, config.clusterList);
        return {
          ...archive.provideTo(role),
          ...apiKeySecret.provideTo(role),
          STACK: addressText(address),
          ...provideHeartbeat(role, config, address),
        };
      },
    });
    this.function = target;
    this.logGroup = logGroup;
    this.#name = config.name;
  }

  /** One of the metrics that runs and audits emit, summed up unless the options say otherwise. */
  metric(name: keyof typeof metricNames, options: MetricOptions): Metric {
    return new Metric({
      namespace: metricNamespace,
      metricName: metricNames[name],
      dimensionsMap: { service: this.#name },
      statistic: 'Sum',
      ...options,
    });
  }
}

/** Lets the role read exactly the object with the list of clusters. */
function allowList(role: IRole, { from, kmsKeyArn }: OutsideList): void {
  allow(role, 'ReadClusterList', ['s3:GetObject'], [from.replace('s3://', 'arn:aws:s3:::')]);
  if (kmsKeyArn !== undefined) allow(role, 'DecryptClusterList', ['kms:Decrypt'], [kmsKeyArn], through('s3'));
}
