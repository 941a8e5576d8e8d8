import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import { version } from '../package.json';
import { Archive } from './archive/archive';
import { createS3Client, createSecretsManagerClient } from './archive/aws-clients';
import { createCompressor } from './body/compress';
import { emptySpoolDirectory } from './body/spool';
import { systemClock as clock } from './clock';
import type { RunRequest } from './event';
import type { AttemptContext } from './run/attempt-run';
import { reportOutcome, reportRun } from './run/report';
import { RunRecordError, RunRecords } from './run/run-records';
import { ApiKey, ApiKeyError } from './service/api-key';
import { ClusterApi } from './service/cluster-api';
import { createCheck } from './service/fetch-resource';
import { Pace } from './service/pace';
import { RejectionGuard } from './service/rejection-guard';
import {
  type Collection,
  type CollectorEnvironment,
  type ConfiguredCluster,
  collectionFile,
  deadlineReserveSeconds,
  environmentNames,
  metricNamespace,
  recordWriteSeconds,
} from './stack-contract';
import { Stop, startDeadline } from './stop';

/** Connections to S3 beside the workers' own: run records are read and written too. */
const spareConnections = 4;

/** What one attempt works with, and its end. */
export interface OpenAttempt {
  readonly context: AttemptContext;
  /** Closes its connections and its deadline; to be called in every outcome. */
  close(): void;
}

export interface ExecutionEnvironment {
  readonly clusters: readonly ConfiguredCluster[];
  openAttempt(request: RunRequest, context: Context): Promise<OpenAttempt>;
}

/**
 * The composition root. Once per execution environment: what is configured, the clients, the cached key. Once per
 * attempt: connections to the service, pace, deadline.
 * @throws SettingsError
 */
export function createExecutionEnvironment(variables: NodeJS.ProcessEnv, codeDirectory: string): ExecutionEnvironment {
  const logger = new Logger();
  const metrics = new Metrics({ namespace: metricNamespace });
  const names = readEnvironment(variables);
  const { collection, digest: configuration } = loadCollection(codeDirectory);
  const { clusters, compression } = collection;
  const { concurrency, requestsPerSecond } = collection.limits;
  const sink = new Archive(
    createS3Client(concurrency + spareConnections, (warning) => logger.warn(warning)),
    names[environmentNames.archiveBucket],
    clock,
  );
  const keys = new ApiKey(createSecretsManagerClient(), names[environmentNames.apiKeySecret], clock);
  const records = new RunRecords(sink);

  async function openAttempt({ scheduled }: RunRequest, invocation: Context): Promise<OpenAttempt> {
    logger.addContext(invocation);
    await emptySpoolDirectory(spoolDirectory);
    const stop = new Stop();
    const guard = new RejectionGuard(stop);
    const service = openService(collection);
    const deadline = startDeadline(stop, () => invocation.getRemainingTimeInMillis(), deadlineReserveSeconds * 1000);
    let throttled = 0;
    const { awsRequestId, functionVersion } = invocation;
    const context: AttemptContext = {
      ...{ clock, clusters, compression, concurrency, createCheck, guard, keys, records, service, sink, stop, version },
      pace: new Pace(clock, requestsPerSecond),
      projectUid: collection.service.projectUid,
      provenance: { collectorVersion: version, functionVersion, invocation: awsRequestId, configuration },
      timeLeftMs: () => deadline.timeLeftMs(),
      recordSignal: () => AbortSignal.timeout(recordWriteSeconds * 1000),
      endsRun: (error) => error instanceof ApiKeyError,
      isUnreadableRecord: (error) => error instanceof RunRecordError,
      onUnreadableRecord: (error) => logger.warn('run record not used', { error }),
      onThrottled: () => {
        throttled += 1;
      },
      onOutcome: (outcome) => reportOutcome(logger, outcome),
      onFinished: (summary, outcomes) => {
        reportRun(logger, metrics, summary, outcomes, { scheduled, keyRejected: guard.keyRejected, throttled });
      },
    };
    const close = () => {
      deadline.clear();
      service.close();
    };
    return { context, close };
  }

  return { clusters, openAttempt };
}

/** Where bodies that outgrow memory are kept while they arrive. */
export const spoolDirectory = join(tmpdir(), 'cluster-log-collector');

/** Time limits of one request to the service that are not configured, in milliseconds. */
const timeLimits = { connectMs: 10_000, idleMs: 30_000 } as const;

/** The service for one run: its connections do not outlive it, because a frozen function would find them dead. */
export function openService({ service, limits, compression }: Collection): ClusterApi {
  const receiver = {
    spoolDirectory,
    compressor: createCompressor(compression),
    maxBytes: limits.maxBodyMiB * 1024 * 1024,
  };
  const requestLimits = { ...timeLimits, responseMs: limits.responseTimeoutSeconds * 1000 };
  return new ClusterApi(service, limits.concurrency, receiver, requestLimits, `cluster-log-collector/${version}`);
}

/** The function was deployed without something that its stack always provides. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** The collection file with the digest that run records name it by. */
export interface LoadedCollection {
  readonly collection: Collection;
  /** SHA-256 of the file, lower-case hex. */
  readonly digest: string;
}

/**
 * Reads the collection file beside the bundle. It was validated when the stack was synthesised and is part of the
 * deployed code, so it is not validated again.
 */
export function loadCollection(directory: string): LoadedCollection {
  const text = readFileSync(join(directory, collectionFile), 'utf8');
  return { collection: JSON.parse(text), digest: createHash('sha256').update(text).digest('hex') };
}

/** @throws SettingsError naming every variable that is not set */
export function readEnvironment(environment: NodeJS.ProcessEnv): CollectorEnvironment {
  const names = Object.values(environmentNames);
  const missing = names.filter((name) => !environment[name]);
  if (missing.length > 0)
    throw new SettingsError(`Reading the environment failed: ${missing.join(', ')} not set; deploy the stack again`);
  const [archiveBucket, apiKeySecret] = [environmentNames.archiveBucket, environmentNames.apiKeySecret];
  return { [archiveBucket]: environment[archiveBucket] ?? '', [apiKeySecret]: environment[apiKeySecret] ?? '' };
}
