import { createHash } from 'node:crypto';
import { type ClusterListSource, type ConfiguredCluster, judgedConfigurationSchema } from '../format/configuration';
import { DamagedObjectError, parseJson } from '../format/damaged-object-error';
import { type Finding, nameOf } from '../format/finding';
import { configurationKey } from '../format/keys';
import { headersProblem } from '../format/object-headers';
import { problems } from '../format/problems';
import { firstResources } from '../format/resources';
import { CronError } from '../format/schedule/cron';
import { type Firings, firingsOf } from '../format/schedule/firings';
import type { Schedule } from '../format/schedule/schedule';
import { ArchiveReadError, type ArchiveReader } from './archive-reader';
import { gunzipWhole } from './open-content';
import { readWhole } from './read-whole';

/** What is asked of one cluster, as far as the archive is judged by it. */
export type JudgedCluster = Required<Pick<ConfiguredCluster, 'resources' | 'optional'>> &
  Pick<ConfiguredCluster, 'leaving'>;

/** A configuration of the archive: what runs had to collect, when they were due, and how long objects are kept. */
export interface RunConfiguration {
  /** By uid. Clusters with the same resources share one object. */
  readonly clusters: ReadonlyMap<string, JudgedCluster>;
  /** When runs are due; undefined: never, the schedule is disabled, or nobody can tell. */
  readonly firings: Firings | undefined;
  readonly schedule: Schedule;
  /** Why nobody can tell when runs are due; left out: its schedule can be read. */
  readonly scheduleProblem?: string;
  /** Days after which the lifecycle removes objects; undefined: never. */
  readonly retentionDays: number | undefined;
  /** Where the clusters came from; undefined: they were deployed. */
  readonly clusterList: ClusterListSource | undefined;
}

/** The clusters of a configuration as a list. */
export function configuredClusters({ clusters }: Pick<RunConfiguration, 'clusters'>): ConfiguredCluster[] {
  return [...clusters].map(([uid, own]) => ({ uid, ...own }));
}

/** Largest configuration that is read, in bytes of JSON: about 300,000 clusters. */
const largestConfigurationBytes = 64 * 1024 * 1024;

/** Configurations that are kept in memory: the one in force, and those beside a change. */
const mostKept = 3;

/** Reads the configurations that run records name. */
export class StoredConfigurations {
  readonly #reader: ArchiveReader;
  readonly #keptName: (cluster: string) => string;
  readonly #kept = new Map<string, RunConfiguration>();
  readonly #unusable = new Set<string>();
  /** What was found. One that is read again, or for several runs at once, is found once. */
  readonly #found = new Map<string, Finding>();
  /** Those that could not be read, which says nothing about them. */
  readonly unread = new Set<string>();

  /** @param keptName gives the name of a cluster to be kept */
  constructor(reader: ArchiveReader, keptName = (cluster: string): string => cluster) {
    this.#keptName = keptName;
    this.#reader = reader;
  }

  /** What is wrong with those that were asked for. */
  get findings(): readonly Finding[] {
    return [...this.#found.values()];
  }

  /**
   * Undefined if there is none that can be used.
   * @throws ArchiveReadError if it could be read another time
   */
  async get(sha256: string): Promise<RunConfiguration | undefined> {
    const kept = this.#kept.get(sha256);
    if (kept !== undefined || this.#unusable.has(sha256)) return kept;
    const configuration = await this.#read(sha256);
    if (configuration === undefined) {
      this.#unusable.add(sha256);
      return undefined;
    }
    this.#kept.set(sha256, configuration);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    return configuration;
  }

  async #read(sha256: string): Promise<RunConfiguration | undefined> {
    const key = configurationKey(sha256);
    const find = (kind: Finding['kind'], problem: string) => {
      const finding = { kind, key, problem };
      this.#found.set(nameOf(finding), this.#found.get(nameOf(finding)) ?? finding);
    };
    try {
      const found = await readWhole(this.#reader, key, largestConfigurationBytes);
      if (found === undefined) {
        find('missing', problems.missingConfiguration);
        return undefined;
      }
      const tooLong = `it is longer than ${largestConfigurationBytes} bytes`;
      const text = gunzipWhole(found.bytes, largestConfigurationBytes, tooLong);
      if (createHash('sha256').update(text).digest('hex') !== sha256)
        throw new DamagedObjectError('its content does not have the SHA-256 that its key says');
      const problem = headersProblem(found, { contentType: 'application/json', contentEncoding: 'gzip' });
      if (problem !== undefined) find('contradiction', problem);
      const configuration = this.#parse(parseJson(text));
      if (configuration.scheduleProblem !== undefined) find('unreadable', configuration.scheduleProblem);
      return configuration;
    } catch (error) {
      if (error instanceof DamagedObjectError) find('damaged', error.message);
      else if (error instanceof ArchiveReadError && error.isLasting) {
        this.unread.add(sha256);
        find('unreadable', error.message);
      } else throw error;
      return undefined;
    }
  }

  #parse(json: unknown): RunConfiguration {
    const { success, data } = judgedConfigurationSchema.safeParse(json);
    if (!success) throw new DamagedObjectError('it is not a valid configuration');
    const { schedule, retentionDays, clusterList } = data;
    const clusters = new Map<string, JudgedCluster>();
    const shared = new Map<string, JudgedCluster>();
    for (const { uid, resources = firstResources, optional = false, leaving } of data.clusters) {
      const own = { resources, optional, ...(leaving && { leaving }) };
      const text = JSON.stringify(own);
      clusters.set(this.#keptName(uid), shared.get(text) ?? own);
      shared.set(text, clusters.get(uid) ?? own);
    }
    const common = { clusters, schedule, retentionDays, clusterList };
    const { expression, timeZone, enabled } = schedule;
    try {
      return { ...common, firings: enabled ? firingsOf(expression, timeZone) : undefined };
    } catch (error) {
      // Its clusters are as good as those of any other: a time zone that nobody knows must not hide them.
      if (!(error instanceof CronError)) throw error;
      return { ...common, firings: undefined, scheduleProblem: problems.unreadSchedule(error.message) };
    }
  }
}
