import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { Configuration, ConfiguredCluster } from '../../../../archive/format/configuration';
import { configurationKey } from '../../../../archive/format/keys';
import type { Outcome, RunRecord } from '../../../../archive/format/run-record';
import { verifyArchive } from '../../../../archive/prove/verify-archive';
import { recordOf } from '../../../support/record-text';
import { missedForgeries } from './forged-removal';
import { ListHistory, mostClusters, type Reading } from './list-history';
import type { MemoryBucket } from './memory-bucket';

const [hour, day] = [3_600_000, 86_400_000];

/**
 * Plays a history of lists.
 * @returns what is said of it although it is honest; whom it lost although not enough records had named it as leaving; who took
 * the turn of somebody else; what a list that cannot be read has changed; and a forged removal that nobody finds
 */
export async function problemsOfLists(seed: string): Promise<string[]> {
  const history = new ListHistory(seed);
  const { bucket, readings } = history;
  const judged = new Set<string>();
  const problems: string[] = [];
  await history.play(() => {
    const archive = new Records(bucket);
    for (const [key, record] of archive.records) {
      if (judged.has(key)) continue;
      judged.add(key);
      const reading = readings.get(record.invocation);
      if (reading === undefined) throw new Error(`${key} is of no attempt`);
      for (const problem of problemsOfRecord(archive, record, reading)) problems.push(`${key} ${problem}`);
    }
  });
  const later = new Date(history.now.getTime() + 10 * hour);
  bucket.clock = later;
  const { findings } = await verifyArchive(bucket, { now: later, concurrency: 4 });
  const { records } = new Records(bucket);
  for (const { kind, key, problem = '' } of findings) {
    const { archive = new Map() } = readings.get(records.get(key)?.invocation ?? '') ?? {};
    // Who could not read what was collected before may have lost somebody: that is said, and rightly.
    if (/list|leaving|completes/.test(problem) && archive.size === 0) problems.push(`${kind} ${key}: ${problem}`);
  }
  problems.push(...(await missedForgeries(bucket, history.now, seed)));
  return problems.map((problem) => `${seed}: ${problem}`);
}

/** The run records of a bucket, with their configurations. */
class Records {
  readonly records: ReadonlyMap<string, RunRecord>;
  readonly #bucket: MemoryBucket;
  readonly #configurations = new Map<string, Configuration>();

  constructor(bucket: MemoryBucket) {
    this.#bucket = bucket;
    this.records = new Map(bucket.keys('runs/').map((key) => [key, recordOf(bucket.objects.get(key)?.body ?? '')]));
  }

  configuration(sha256: string): Configuration {
    const known = this.#configurations.get(sha256);
    if (known !== undefined) return known;
    const { body = Buffer.alloc(0) } = this.#bucket.objects.get(configurationKey(sha256)) ?? {};
    const read = JSON.parse(gunzipSync(body).toString()) as Configuration;
    this.#configurations.set(sha256, read);
    return read;
  }

  uids(sha256: string): ReadonlySet<string> {
    return new Set(this.configuration(sha256).clusters.map(({ uid }) => uid));
  }
}

function problemsOfRecord(archive: Records, record: RunRecord, reading: Reading): string[] {
  const { clusters } = archive.configuration(record.configuration);
  const tooMany = clusters.length > 2 * mostClusters ? [`has ${clusters.length} clusters`] : [];
  return [
    ...tooMany,
    ...lostIn(archive, record),
    ...changedIn(archive, record, reading),
    ...starvedIn(archive, record, reading),
  ];
}

function lostIn(archive: Records, { configuration, clusterList }: RunRecord): string[] {
  const { follows } = clusterList ?? {};
  if (follows === undefined) return [];
  const { clusterList: rule } = archive.configuration(configuration);
  const { leaveAfterDays = 0, exclude = [] } = rule ?? {};
  const are = archive.uids(configuration);
  return [...archive.uids(follows.configuration)].flatMap((uid) => {
    if (are.has(uid) || exclude.includes(uid)) return [];
    const { dates, isCut } = namedBefore(archive, follows.record, uid);
    return isCut || dates.size >= leaveAfterDays ? [] : `lost ${uid}, named as leaving on ${[...dates].join(', ')}`;
  });
}

/** The dates of the records, one behind the other, that name a cluster as leaving. `isCut`: an earlier one has expired. */
function namedBefore(
  archive: Records,
  from: string,
  uid: string,
): { readonly dates: ReadonlySet<string>; readonly isCut: boolean } {
  const dates = new Set<string>();
  for (let key: string | undefined = from; key !== undefined; ) {
    const record: RunRecord | undefined = archive.records.get(key);
    if (record === undefined) return { dates, isCut: true };
    const { clusters } = archive.configuration(record.configuration);
    const cluster: ConfiguredCluster | undefined = clusters.find((one) => one.uid === uid);
    if (cluster?.leaving === undefined) break;
    dates.add((record.startedAt > record.run ? record.startedAt : record.run).slice(0, 10));
    // A run that was completed late has the clusters of another of its records.
    if (record.clusterList === undefined) return { dates, isCut: true };
    key = record.clusterList.follows?.record;
  }
  return { dates, isCut: false };
}

const saidOfList = { 403: /does not exist: .*403 AccessDenied/, 404: /does not exist$/, 503: /: .*503 SlowDown$/ };

/** A list that cannot be read, or used, changes nobody, but for those that are excluded; and the record says why. */
function changedIn(archive: Records, record: RunRecord, { hasList, list }: Reading): string[] {
  const { configuration, clusterList } = record;
  if (clusterList === undefined || hasList) return [];
  const { problem = 'nothing', isInForce, follows } = clusterList;
  const problems = isInForce || (list !== undefined && !saidOfList[list].test(problem)) ? [`says ${problem}`] : [];
  if (follows === undefined) return [...problems, 'has clusters that no list has named'];
  const { clusters, clusterList: rule } = archive.configuration(configuration);
  const before = archive.configuration(follows.configuration).clusters;
  const were = before.filter(({ uid }) => !rule?.exclude?.includes(uid));
  return isDeepStrictEqual(clusters, were)
    ? problems
    : [...problems, `has ${clusters.length} clusters by a list that could not be read`];
}

/**
 * Nobody is left out for want of time while a cluster that joined within a day was asked for, or one that is leaving. Who
 * joined may be disputable: there are attempts beside each other, and clocks that are wrong. Only those count who were there
 * in all that any clock calls a day ago and since, and those who were never there.
 */
function starvedIn(
  archive: Records,
  { run, configuration, outcomes }: RunRecord,
  { archive: refused }: Reading,
): string[] {
  const asked = outcomes.filter(({ requests }) => requests !== undefined);
  const isLeft = ({ outcome }: Outcome) => outcome === 'not-attempted';
  const left = outcomes.filter((outcome) => isLeft(outcome) && !outcome.leaving);
  const leaving = asked.find((outcome) => outcome.leaving);
  const problems =
    leaving && left.length > 0 ? [`asked for ${leaving.cluster}, which is leaving, before ${left[0]?.cluster}`] : [];
  const { clusterList: rule } = archive.configuration(configuration);
  const earlier = [...archive.records.values()].filter((other) => other.run < run);
  if (rule === undefined || refused.size > 0 || earlier.length === 0) return problems;
  const ageOf = (other: RunRecord) => Date.parse(run) - Date.parse(other.run);
  const dayAgo = Math.min(...earlier.map(ageOf).filter((age) => age >= day + 2 * hour));
  const since = Number.isFinite(dayAgo) ? dayAgo : Number.POSITIVE_INFINITY;
  const known = earlier.filter((other) => ageOf(other) <= since).map((other) => archive.uids(other.configuration));
  const all = earlier.map((other) => archive.uids(other.configuration));
  const stranger = asked.find(({ cluster, leaving }) => !leaving && !all.some((uids) => uids.has(cluster)));
  const starved = left.find(({ cluster }) => known.every((uids) => uids.has(cluster)));
  if (stranger !== undefined && starved !== undefined)
    problems.push(`asked for ${stranger.cluster}, which joined within a day, before ${starved.cluster}`);
  return problems;
}
