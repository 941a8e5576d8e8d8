import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import { version } from '../package.json';
import { createS3Client, createSecretsManagerClient } from './archive/aws-clients';
import { S3Archive } from './archive/s3-archive';
import { emptySpoolDirectory } from './body/spool';
import { systemClock as clock } from './clock';
import { readVariables } from './environment';
import type { RunRequest } from './event';
import type { AttemptContext } from './run/attempt-run';
import { configurationStore, RecordStore } from './run/record-store';
import { LambdaReporter } from './run/reporter';
import { ApiKey } from './service/api-key';
import { ClusterApi } from './service/cluster-api';
import { silenceLimits } from './service/request-watch';
import { type Collection, collectionFile, environmentNames, metricNamespace } from './stack-contract';
import { Stop } from './stop';
import { deadlineReserveSeconds } from './time-limits';

/** Connections to S3 beside the workers' own: run records are read and written too. */
const spareConnections = 4;

/**
 * The composition root. Once per execution environment: what is configured and the clients. Once per attempt: the
 * key, connections to the service, the deadline.
 * @throws SettingsError
 */
export function wire(variables: NodeJS.ProcessEnv, codeDirectory: string) {
  const logger = new Logger();
  const metrics = new Metrics({ namespace: metricNamespace });
  const names = readVariables(Object.values(environmentNames), variables);
  const { collection, digest: configuration } = loadCollection(codeDirectory);
  const { concurrency } = collection.limits;
  const s3 = createS3Client(concurrency + spareConnections, (warning) => logger.warn(warning));
  const archive = new S3Archive(s3, names[environmentNames.archiveBucket], clock);
  const secretsManager = createSecretsManagerClient();
  const records = new RecordStore(archive);
  const stack = { name: variables.POWERTOOLS_SERVICE_NAME ?? '', region: variables.AWS_REGION ?? '' };
  const storeConfiguration = configurationStore(archive, configuration, () =>
    readFile(join(codeDirectory, collectionFile)),
  );

  /** What one attempt works with. To be closed in every outcome: its connections and its deadline end. */
  async function openAttempt({ scheduled }: RunRequest, invocation: Context) {
    logger.addContext(invocation);
    await emptySpoolDirectory(spoolDirectory);
    const { awsRequestId, functionVersion } = invocation;
    const provenance = { collectorVersion: version, functionVersion, invocation: awsRequestId, configuration };
    const reporter = new LambdaReporter(logger, metrics, scheduled);
    const stop = new Stop(() => invocation.getRemainingTimeInMillis() - deadlineReserveSeconds * 1000);
    // Not kept: a warm environment must not begin with a key that was replaced since.
    const keys = new ApiKey(secretsManager, names[environmentNames.apiKeySecret], clock);
    const service = openService(collection);
    const close = () => {
      stop.close();
      service.close();
    };
    const stores = { archive, records, storeConfiguration };
    const context: AttemptContext = { collection, provenance, stack, clock, stop, service, keys, ...stores, reporter };
    return { context, close };
  }

  return { collection, openAttempt };
}

/** Where bodies that outgrow memory are kept while they arrive. */
export const spoolDirectory = join(tmpdir(), 'cluster-log-collector');

/** The service for one run: its connections do not outlive it, because a frozen function would find them dead. */
export function openService({ service, limits }: Collection, directory = spoolDirectory): ClusterApi {
  const receiver = {
    spoolDirectory: directory,
    maxBytes: limits.maxBodyMiB * 1024 * 1024,
  };
  return new ClusterApi({
    service,
    receiver,
    timeLimits: { ...silenceLimits, responseMs: limits.responseTimeoutSeconds * 1000 },
    userAgent: `cluster-log-collector/${version}`,
  });
}

/**
 * Reads the collection file beside the bundle. It was validated when the stack was synthesised and is part of the
 * deployed code, so it is not validated again.
 * @returns with the SHA-256 of the file, lower-case hex, that run records name it by
 */
function loadCollection(directory: string): { collection: Collection; digest: string } {
  const text = readFileSync(join(directory, collectionFile), 'utf8');
  return { collection: JSON.parse(text), digest: createHash('sha256').update(text).digest('hex') };
}
