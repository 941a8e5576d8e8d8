import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import type { Configuration } from '../../archive/format/configuration';
import type { RunSummary } from '../../archive/format/run-record';
import { readWhole, S3ArchiveReader, stoppableReader } from '../../archive/read/s3-archive-reader';
import { version } from '../../package.json';
import { createS3Client, createSecretsManagerClient } from '../aws-clients';
import { systemClock as clock } from '../clock';
import { readVariables, SettingsError } from '../environment';
import { openHeartbeat } from '../heartbeat';
import { InvalidEventError } from '../read-event';
import { collectorVariables, configurationFile, metricNamespace } from '../stack-contract';
import { Stop } from '../stop';
import { deadlineReserveSeconds } from '../time-limits';
import { emptySpoolDirectory } from './body/spool';
import type { HeartbeatRequest, RunRequest } from './event';
import { type Archive, DryArchive, S3Archive } from './put/s3-archive';
import type { AttemptContext } from './run/attempt-run';
import { attemptList } from './run/cluster-list';
import { countsOfShards } from './run/complete-shards';
import { PastLists } from './run/past-lists';
import { inArchive, largestListBytes, parseListAddress } from './run/read-list';
import { readRecordHead } from './run/record-head';
import { configurationStore, RecordStore } from './run/record-store';
import { LambdaReporter } from './run/reporter';
import { ApiKey } from './service/api-key';
import { ClusterApi } from './service/cluster-api';
import { silenceLimits } from './service/request-watch';

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
  const names = readVariables(collectorVariables, variables);
  const heartbeat = openHeartbeat(variables, logger, metrics);
  const deployed = loadConfiguration(codeDirectory);
  const { concurrency } = deployed.configuration.limits;
  const s3 = createS3Client(concurrency + spareConnections, (warning) => logger.warn(warning));
  const secretsManager = createSecretsManagerClient();
  const readerOf = (bucket: string) =>
    new S3ArchiveReader(bucket, s3, "check the function's role and the policies of the bucket and its KMS key");
  const reader = readerOf(names.ARCHIVE_BUCKET);
  const stack = { name: names.STACK, region: variables.AWS_REGION ?? '' };
  const storesOf = (archive: Archive) => ({
    archive,
    records: new RecordStore(archive, reader),
    storeDeployed: configurationStore(archive, deployed.digest, () => readFile(join(codeDirectory, configurationFile))),
  });
  const realStores = storesOf(new S3Archive(s3, names.ARCHIVE_BUCKET, clock));
  const dryStores = storesOf(new DryArchive(names.ARCHIVE_BUCKET));
  const { clusterList: source } = deployed.configuration;

  /** The configuration of one attempt: the deployed one, or with a list from outside in it, which is stored before any work. */
  async function configure(request: RunRequest, stop: Stop, reporter: LambdaReporter) {
    const { storeDeployed, ...stores } = request.dryRun ? dryStores : realStores;
    if (source === undefined) return { ...deployed, ...stores, storeConfiguration: storeDeployed };
    const { bucket, key } = parseListAddress(source.from);
    const readList = async () => {
      if (bucket === names.ARCHIVE_BUCKET) throw new SettingsError(inArchive);
      return readWhole(stoppableReader(readerOf(bucket), stop.working), key, largestListBytes);
    };
    const past = new PastLists(stoppableReader(reader, stop.working));
    const context = { past, read: readList, now: clock.now() };
    const { clusters, read, joined, remarks, manyLeaving } = await attemptList(request, source, context);
    for (const remark of remarks) reporter.warn(remark);
    if (manyLeaving !== undefined) reporter.leaving(manyLeaving);
    const configuration: Configuration = { ...deployed.configuration, clusters };
    const text = Buffer.from(JSON.stringify(configuration));
    const digest = sha256Of(text);
    const storeConfiguration = configurationStore(stores.archive, digest, async () => text);
    await storeConfiguration(stop.working);
    return { configuration, digest, ...stores, clusterList: read, joined, storeConfiguration };
  }

  /** What one attempt works with. To be closed in every outcome: its connections and its deadline end. */
  async function openAttempt(request: RunRequest, invocation: Context) {
    logger.addContext(invocation);
    await emptySpoolDirectory(spoolDirectory);
    const { awsRequestId, functionVersion } = invocation;
    const reporter = new LambdaReporter(logger, metrics, request.scheduled);
    const stop = new Stop(() => invocation.getRemainingTimeInMillis() - deadlineReserveSeconds * 1000);
    const configured = await configure(request, stop, reporter).catch((error: unknown) => {
      stop.close();
      throw error;
    });
    const { configuration, digest, ...stored } = configured;
    const provenance = { collectorVersion: version, functionVersion, invocation: awsRequestId, configuration: digest };
    // Not kept: a warm environment must not begin with a key that was replaced since.
    const keys = new ApiKey(secretsManager, names.API_KEY_SECRET);
    const service = openService(configuration);
    const close = () => {
      stop.close();
      service.close();
    };
    const context: AttemptContext = {
      configuration,
      provenance,
      stack,
      clock,
      stop,
      service,
      keys,
      ...stored,
      reporter,
    };
    /** Of a complete run. What a person asks for says nothing of the schedule, and a shard nothing of the run ({@link tellOfShards}). */
    const tell = async ({ run, counts, shard }: RunSummary) => {
      if (request.scheduled && shard === undefined)
        await heartbeat?.tell({ run, counts }, invocation.getRemainingTimeInMillis());
    };
    return { context, tell, close };
  }

  /** Tells of a run in shards what its records say. @throws InvalidEventError: there is nobody to tell */
  async function tellOfShards({ run, shards }: HeartbeatRequest, invocation: Context): Promise<HeartbeatSummary> {
    logger.addContext(invocation);
    if (heartbeat === undefined)
      throw new InvalidEventError(
        [
          {
            path: 'heartbeat',
            received: JSON.stringify({ shards }),
            expected: 'no heartbeat: alerts.heartbeat is not configured',
          },
        ],
        'nobody was told',
      );
    const counted = async (whole: AbortSignal) => ({
      run: run.toISOString(),
      counts: await countsOfShards(run, shards, {
        names: await realStores.records.list(run, whole),
        head: (name) => readRecordHead(stoppableReader(reader, whole), name),
      }),
    });
    const isTold = await heartbeat.tell(counted, invocation.getRemainingTimeInMillis());
    return { run: run.toISOString(), isTold };
  }

  /** Undefined: they come from outside, with each attempt. */
  const clusters = source === undefined ? deployed.configuration.clusters : undefined;
  return { clusters, openAttempt, tellOfShards };
}

/** What the last step of the state machine gets. */
export interface HeartbeatSummary {
  readonly run: string;
  /** Whether the monitoring service took it; if not, the log says why. */
  readonly isTold: boolean;
}

/** Where bodies that outgrow memory are kept while they arrive. */
export const spoolDirectory = join(tmpdir(), 'cluster-log-collector');

/** The service for one run: its connections do not outlive it, because a frozen function would find them dead. */
export function openService(
  { service, limits }: Pick<Configuration, 'service' | 'limits'>,
  directory = spoolDirectory,
): ClusterApi {
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
 * Reads the configuration file beside the bundle. It was validated when the stack was synthesised and is part of the
 * deployed code, so it is not validated again.
 * @returns with the SHA-256 of the file, lower-case hex, that run records name it by
 */
function loadConfiguration(directory: string): { configuration: Configuration; digest: string } {
  const text = readFileSync(join(directory, configurationFile), 'utf8');
  return { configuration: JSON.parse(text), digest: sha256Of(text) };
}

function sha256Of(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}
