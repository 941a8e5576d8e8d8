import { rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Configuration, ConfiguredCluster } from '../../archive/format/configuration';
import type { Outcome, RunRecord, RunSummary } from '../../archive/format/run-record';
import { S3ArchiveReader } from '../../archive/read/s3-archive-reader';
import { createS3Client } from '../../lambda/aws-clients';
import { systemClock } from '../../lambda/clock';
import type { RunRequest } from '../../lambda/collect/event';
import { DryArchive, S3Archive } from '../../lambda/collect/put/s3-archive';
import { type AttemptContext, attemptRun } from '../../lambda/collect/run/attempt-run';
import { RecordStore } from '../../lambda/collect/run/record-store';
import { ApiKey } from '../../lambda/collect/service/api-key';
import { ClusterApi } from '../../lambda/collect/service/cluster-api';
import type { RequestTimeLimits } from '../../lambda/collect/service/request-watch';
import { Stop } from '../../lambda/stop';
import type { LocalSecret } from '../../local/aws/call';
import { rolePolicySchema } from '../../local/aws/iam/policy-document';
import { type LocalAws, startLocalAws } from '../../local/aws/local-aws';
import { type Intercept, injectFaults } from './aws-faults';
import { FakeReporter } from './fake-reporter';
import { newFolder } from './new-folder';
import { type StoredObject, storedObjects, storedRecords } from './stored-objects';
import { tracesOf } from './traces-of';
import { standingClock, VirtualClock } from './virtual-clock';

export const testKey = 'test-key-2f1c9a';
export const testRun = new Date('2026-11-20T10:00:00.000Z');

const secretName = 'collector/api-key';
const secretArn = `arn:aws:secretsmanager:eu-central-1:111111111111:secret:${secretName}-AbCdEf`;
const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret for tests' };

export interface RealCollectorOptions {
  readonly service: Pick<Configuration['service'], 'baseUrl' | 'caCertificate'>;
  readonly clusters: readonly ConfiguredCluster[];
  /** The secret's value; null for a secret without one. */
  readonly secret?: string | null;
  readonly intercept?: Intercept;
  readonly limits?: Partial<Configuration['limits']>;
  readonly timeLimits?: Partial<RequestTimeLimits>;
  /** Time the invocation has, in milliseconds, its reserve taken off. */
  readonly timeLeftMs?: number;
  /**
   * On the collector's clock, time goes on only while nothing is under way, and each answer takes a second. The time limits
   * for connections stay the system's.
   */
  readonly timeStands?: boolean;
}

/** What one attempt came to, as its caller and as the archive see it. */
export interface Attempted {
  readonly summary: RunSummary | undefined;
  readonly error: Error | undefined;
  readonly outcomes: readonly Outcome[];
  readonly throttled: number;
}

/**
 * The function's real parts, wired as the handler wires them: real HTTP to the service, real SDK clients over a socket to
 * the embedded endpoint, a real spool directory. Only the sleeps between requests are skipped.
 */
export class RealCollector {
  readonly #options: RealCollectorOptions;
  readonly #directory: string;
  readonly aws: LocalAws;
  readonly #secretsManager: SecretsManagerClient;
  readonly #archive: S3Archive;
  readonly #reader: S3ArchiveReader;
  readonly #secrets: string[] = [];
  /** Whatever attempts gave to their callers. */
  readonly #given: string[] = [];
  /** What the SDK warned of. */
  readonly #warnings: string[] = [];
  readonly #clock: VirtualClock;
  /** Of each wait before it asks again, the SDK takes a random part: here, none. */
  readonly #random = jest.spyOn(Math, 'random').mockReturnValue(0);

  static async start(options: RealCollectorOptions): Promise<RealCollector> {
    const directory = newFolder();
    const { secret = testKey, intercept } = options;
    const stored: LocalSecret = { arn: secretArn, ...(secret !== null && { value: secret }) };
    const aws = await startLocalAws({
      region: 'eu-central-1',
      principals: [
        {
          ...credentials,
          arn: 'arn:aws:iam::111111111111:role/collector',
          policies: [rolePolicySchema.parse({ Statement: { Effect: 'Allow', Action: '*', Resource: '*' } })],
        },
      ],
      buckets: [{ name: 'archive', folder: join(directory, 'archive') }],
      secrets: [stored],
      ...(intercept && { around: injectFaults(intercept) }),
    });
    return new RealCollector(options, directory, aws, stored);
  }

  private constructor(
    options: RealCollectorOptions,
    directory: string,
    aws: LocalAws,
    private readonly secret: LocalSecret,
  ) {
    this.#options = options;
    const { now, random } = systemClock;
    this.#clock = new VirtualClock(options.timeStands ? { ...standingClock, now, random } : systemClock);
    this.#secrets.push(options.secret ?? testKey);
    this.#directory = directory;
    this.aws = aws;
    const target = { endpoint: aws.url, region: 'eu-central-1', credentials };
    const s3 = createS3Client(50, (warning) => this.#warnings.push(warning), target);
    // The adapter's sleeps are part of a put, which is under way meanwhile.
    const clock = { ...systemClock, sleep: async () => undefined };
    this.#archive = new S3Archive(s3, 'archive', clock);
    this.#reader = new S3ArchiveReader('archive', s3);
    this.#secretsManager = new SecretsManagerClient({ ...target, maxAttempts: 3 });
  }

  setSecret(value: string): void {
    this.#secrets.push(value);
    this.secret.value = value;
  }

  /**
   * One attempt of {@link testRun}, unless the request says otherwise.
   * @param outOfTime resolves when the invocation's time is over; left out: only the clock says so
   */
  async attempt(request: Partial<RunRequest> = {}, outOfTime?: Promise<unknown>): Promise<Attempted> {
    const { limits, clusters, timeLimits, timeLeftMs = 600_000 } = this.#options;
    const service = { ...this.#options.service, collection: 'platformclusters' };
    const start = this.#clock.monotonicMs();
    const stop = new Stop(() => timeLeftMs - (this.#clock.monotonicMs() - start));
    void outOfTime?.then(() => stop.outOfTime());
    const concurrency = limits?.concurrency ?? 4;
    const receiver = {
      spoolDirectory: this.#directory,
      maxBytes: (limits?.maxBodyMiB ?? 64) * 1024 * 1024,
    };
    const api = new ClusterApi({
      service,
      receiver,
      timeLimits: { connectMs: 60_000, responseMs: 60_000, idleMs: 60_000, ...timeLimits },
      userAgent: 'test',
    });
    const clock = this.#clock;
    const { timeStands } = this.#options;
    const keys = new ApiKey(this.#secretsManager, secretName);
    const archive = request.dryRun ? new DryArchive('archive') : this.#archive;
    const reporter = new FakeReporter();
    const context: AttemptContext = {
      configuration: {
        service,
        clusters,
        schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
        limits: { maxBodyMiB: 64, responseTimeoutSeconds: 60, ...limits, concurrency },
      },
      stack: { name: 'real-collector', region: 'eu-central-1' },
      provenance: {
        collectorVersion: '1.0.0',
        functionVersion: '1',
        invocation: 'test',
        configuration: '0'.repeat(64),
      },
      clock,
      stop,
      service: {
        get: async (...call) => {
          const answer = await clock.underWay(api.get(...call));
          if (timeStands) await clock.sleep(1000, call[2]);
          return answer;
        },
      },
      reporter,
      archive: { put: (...call) => clock.underWay(archive.put(...call)) },
      records: new RecordStore(archive, this.#reader),
      keys: {
        current: (...call) => clock.underWay(keys.current(...call)),
        afterRejection: (...call) => clock.underWay(keys.afterRejection(...call)),
      },
      // Only the archive's own content matters here: what was due is another test's matter.
      storeConfiguration: async () => undefined,
    };
    const asked = { run: testRun, completes: false, scheduled: true, dryRun: false, ...request };
    try {
      const error = await attemptRun(asked, context).then(
        () => undefined,
        (thrown: unknown) => thrown as Error,
      );
      const [summary] = reporter.summaries;
      const { outcomes, throttledAnswers: throttled } = reporter;
      this.#given.push(inspect([error, summary, outcomes], { depth: 10, maxStringLength: null, maxArrayLength: null }));
      return { summary, error, outcomes, throttled };
    } finally {
      stop.close();
      api.close();
    }
  }

  /** Every object of the archive, by key, uncompressed. */
  async objects(): Promise<Map<string, Buffer>> {
    return new Map(
      [...(await this.stored())].map(([key, { body }]) => [key, key.endsWith('.gz') ? gunzipSync(body) : body]),
    );
  }

  /** Every object of the archive, by key, as it is stored. */
  stored(): Promise<Map<string, StoredObject>> {
    return storedObjects(join(this.#directory, 'archive'));
  }

  /** The run records, by attempt. */
  async records(): Promise<RunRecord[]> {
    return storedRecords(join(this.#directory, 'archive'));
  }

  /** Names of temporary files that are there now. */
  async spooled(): Promise<string[]> {
    return (await readdir(this.#directory)).filter((name) => name !== 'archive');
  }

  /** @throws Error if a key has got into anything that the attempts left behind: every test's end looks for it */
  async close(): Promise<void> {
    const left = [
      ...this.#given,
      ...[...(await this.objects())].flatMap(([key, body]) => [key, body.toString('latin1')]),
    ];
    await this.aws.close();
    this.#random.mockRestore();
    rmSync(this.#directory, { recursive: true, force: true });
    const keys = this.#secrets.map((secret) => /"apiKey":"([^"]+)"/.exec(secret)?.[1] ?? secret.trim());
    const traces = keys.filter((key) => key.length > 4).flatMap(tracesOf);
    const found = traces.filter((trace) => left.some((text) => text.includes(trace)));
    if (this.#warnings.length > 0) throw new Error(`the SDK warned: ${this.#warnings.join(', ')}`);
    if (found.length > 0) throw new Error(`the key has got out, as ${found.join(' and ')}`);
  }
}
