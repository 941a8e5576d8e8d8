import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import { version } from '../package.json';
import { ApiKey, ApiKeyError } from './api-key';
import { Archive } from './archive';
import { attemptRun } from './attempt-run';
import { createS3Client, createSecretsManagerClient } from './aws-clients';
import { loadCollection, readEnvironment } from './collection';
import { createCheck } from './create-check';
import { startDeadline } from './deadline';
import { parseEvent } from './event';
import { openService, spoolDirectory } from './open-service';
import { Pace } from './pace';
import { RejectionGuard } from './rejection-guard';
import { reportOutcome, reportRun } from './report';
import type { RunSummary } from './run-record';
import { RunRecordError, RunRecords } from './run-records';
import { deadlineReserveSeconds, environmentNames, metricNamespace, recordWriteSeconds } from './settings';
import { emptySpoolDirectory } from './spool';
import { Stop } from './stop';
import { systemClock as clock } from './system-clock';

const logger = new Logger();
const metrics = new Metrics({ namespace: metricNamespace });
const environment = readEnvironment(process.env);
const { collection, digest: configuration } = loadCollection(__dirname);
const { clusters, limits, service: serviceSettings, compression } = collection;
const sink = new Archive(createS3Client(limits.concurrency + 4), environment[environmentNames.archiveBucket], clock);
const keys = new ApiKey(createSecretsManagerClient(), environment[environmentNames.apiKeySecret], clock);

/** What Lambda calls: reads the event, works on the run, and fails truthfully if anything is not archived. */
export async function handler(event: unknown, context: Context): Promise<RunSummary> {
  const { awsRequestId: invocation, functionVersion } = context;
  const request = parseEvent(event, clusters);
  await emptySpoolDirectory(spoolDirectory);
  const stop = new Stop();
  const guard = new RejectionGuard(stop);
  const service = openService(collection);
  const deadline = startDeadline(stop, () => context.getRemainingTimeInMillis(), deadlineReserveSeconds * 1000);
  let throttled = 0;
  try {
    return await attemptRun(request, {
      ...{ clock, clusters, compression, createCheck, guard, keys, service, sink, stop, version },
      concurrency: limits.concurrency,
      pace: new Pace(clock, limits.requestsPerSecond),
      projectUid: serviceSettings.projectUid,
      records: new RunRecords(sink),
      provenance: { collectorVersion: version, functionVersion, invocation, configuration },
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
        const { scheduled } = request;
        reportRun(logger, metrics, summary, outcomes, { scheduled, keyRejected: guard.keyRejected, throttled });
      },
    });
  } finally {
    deadline.clear();
    service.close();
  }
}
