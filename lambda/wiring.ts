import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import { version } from '../package.json';
import { Archive } from './archive/archive';
import { createS3Client, createSecretsManagerClient } from './archive/aws-clients';
import { createCheck } from './body/create-check';
import { emptySpoolDirectory } from './body/spool';
import { loadCollection, readEnvironment } from './collection';
import { startDeadline } from './deadline';
import type { RunRequest } from './event';
import { openService, spoolDirectory } from './open-service';
import type { AttemptContext } from './run/attempt-run';
import { reportOutcome, reportRun } from './run/report';
import { RunRecordError, RunRecords } from './run/run-records';
import { ApiKey, ApiKeyError } from './service/api-key';
import { Pace } from './service/pace';
import { RejectionGuard } from './service/rejection-guard';
import {
  type ConfiguredCluster,
  deadlineReserveSeconds,
  environmentNames,
  metricNamespace,
  recordWriteSeconds,
} from './stack-contract';
import { Stop } from './stop';
import { systemClock as clock } from './system-clock';

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
