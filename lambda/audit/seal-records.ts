import { settled } from '../../archive/format/clocks';
import { configurationKey, parseRunRecordKey } from '../../archive/format/keys';
import type { Firings } from '../../archive/format/schedule/firings';
import type { Hashed, Seal } from '../../archive/format/seal';
import {
  drain,
  type JudgedRun,
  judgeRun,
  Met,
  type SealChain,
  type Sealed,
  type World,
} from '../../archive/prove/attest';
import {
  ArchiveReadError,
  type ArchiveReader,
  allClusters,
  type ListedRun,
  type RunConfiguration,
  readRunRecord,
  runsBetween,
  type StoredRun,
} from '../../archive/read';
import { inTime } from './audit-world';
import type { ClusterOutcomes } from './cluster-outcomes';
import type { Findings } from './findings';
import type { Totals } from './totals';

/** What a seal has of the run records that no seal before it has. */
export class NewRecords {
  readonly records: Hashed[] = [];
  readonly configurations: Seal['configurations'] = [];
  /** Keys of those that could not be read. */
  readonly unread: string[] = [];
  /** Why a run record could not be read, of the first such one, sealed or not. */
  problem: string | undefined;
  /** How many there was no time for, or no room in the seal. */
  carriedOver = 0;
  /** The last key that was looked at; null: all. */
  behind: string | null = null;
  /** How many objects they say that they archived. */
  archived = 0;
  /** Times of all runs that have a record, oldest first; and of each the number of the newest seal that has one of them first. */
  readonly runs = new Map<number, number>();
  /** What is sealed and listed. */
  readonly there = new Set<Sealed>();
  /** When the oldest record was written, by the archive's clock; undefined: there is none. */
  oldestWrittenAt: Date | undefined;
  /** The first and the last run that has a new record; undefined: there is none. */
  span: { readonly from: Date; readonly to: Date } | undefined;

  /** Runs come in the order of their times. */
  addNew(run: Date): void {
    this.span = { from: this.span?.from ?? run, to: run };
  }
}

/** A run with records that have to be read. */
interface ChangedRun {
  readonly listed: ListedRun;
  /** Keys of its records that no seal has. */
  readonly unsealed: ReadonlySet<string>;
  /** Whether its outcomes are new to this audit. */
  readonly isNew: boolean;
}

export interface SealRecordsOptions {
  readonly archive: ArchiveReader;
  readonly chain: SealChain;
  readonly findings: Findings;
  readonly totals: Totals;
  /** Aborts when the audit's time is over. */
  readonly stop: AbortSignal;
  /** Takes note of what became of the clusters. */
  readonly clusters: ClusterOutcomes;
  /** When the audit's own plan says that runs are due; undefined: never. */
  readonly firings: Firings | undefined;
  /** How many records and objects together the seal has room for: what is behind is carried over. */
  readonly most: number;
}

/** Sealed records that are tried where no new one can be read: one may be gone, or be unreadable too. */
const mostTried = 3;

/**
 * Lists all run records, also when the time is over, and hashes and judges those that no seal has.
 * @throws ArchiveReadError if nothing of what was to be read could be read
 */
export async function sealRecords(world: World, options: SealRecordsOptions): Promise<NewRecords> {
  const found = new NewRecords();
  let last = '';
  for await (const run of changedRuns(options, found)) {
    const isRead =
      found.behind === null && (await inTime(options.stop, () => readRun(run, found, { world, ...options })));
    if (isRead === true) {
      last = run.listed.records.map(({ key }) => key).reduce((a, b) => (a > b ? a : b), last);
      if (run.isNew) found.addNew(run.listed.run);
    } else {
      found.carriedOver += run.unsealed.size;
      found.behind ??= last;
    }
  }
  if (found.problem !== undefined && found.records.length === 0 && !(await canReadSealed(world, options.chain)))
    throw new ArchiveReadError(found.problem);
  return found;
}

/**
 * Lists all runs, and gives those that have to be read. One that comes before a new run is among them: a cluster that fails since
 * then was archived there last, and a manifest may have changed since.
 */
async function* changedRuns(
  { archive, chain, findings }: SealRecordsOptions,
  found: NewRecords,
): AsyncGenerator<ChangedRun> {
  /** The run before, unless it was given. */
  let before: ListedRun | undefined;
  for await (const listed of runsBetween(archive, {}, findings.find)) {
    const unsealed = new Set<string>();
    let isRewritten = false;
    let newestSealed = 0;
    for (const { key, writtenAt } of listed.records) {
      const sealed = chain.records.get(key);
      if (sealed === undefined) unsealed.add(key);
      else found.there.add(sealed);
      newestSealed = Math.max(newestSealed, sealed?.by.number ?? 0);
      // S3 wrote a sealed record anew after it was listed for its seal.
      isRewritten ||= sealed !== undefined && writtenAt > new Date(sealed.by.listedFrom);
      if (found.oldestWrittenAt === undefined || writtenAt < found.oldestWrittenAt) found.oldestWrittenAt = writtenAt;
    }
    found.runs.set(listed.run.getTime(), unsealed.size > 0 ? chain.next.number : newestSealed);
    // Where the newest states are lost, what was new to their audits is new again, and to no later one.
    const isSinceState = newestSealed > (chain.stateOf?.number ?? 0);
    if (isSinceState) found.addNew(listed.run);
    const isNew = unsealed.size > 0 || isSinceState;
    const isRead = isNew || isRewritten;
    if (isNew && before !== undefined) yield { listed: before, unsealed: new Set(), isNew: false };
    if (isRead) yield { listed, unsealed, isNew };
    before = isRead ? undefined : listed;
  }
}

interface ReadRunContext extends SealRecordsOptions {
  readonly world: World;
}

/** A call of its own: a variable of the loop would keep the outcomes of a run while those of the next are read. @returns whether the seal has room for it */
async function readRun(
  { listed, unsealed, isNew }: ChangedRun,
  found: NewRecords,
  { world, clusters, most, firings, findings, totals }: ReadRunContext,
): Promise<boolean> {
  const runs: JudgedRun[] = [];
  const kept: { stored?: StoredRun } = {};
  const slice = { clusters: allClusters([]), depth: 'names' } as const;
  await drain(judgeRun(listed, slice, world, new Met(world.keptName), kept), (one) => {
    if ('finding' in one) findings.add(one.finding);
    totals.take(one);
    if ('run' in one) runs.push(one.run);
  });
  const [judged] = runs;
  const { stored } = kept;
  if (judged === undefined || stored === undefined) return true;
  const { read, badRecords } = stored;
  found.problem ??= badRecords.find(({ kind }) => kind === 'unreadable')?.problem;
  const records = read.flatMap(({ key, file }) => (file && unsealed.has(key) ? { key, ...file } : []));
  if (found.records.length + records.length + totals.hashed.size > most) return false;
  found.records.push(...records);
  for (const { key, file, record } of read) {
    if (!unsealed.has(key)) continue;
    if (file === undefined) found.unread.push(key);
    found.archived += record?.counts.archived ?? 0;
  }
  const configured: RunConfiguration[] = [];
  for (const { sha256 } of judged.used) {
    const configuration = await world.configurations.get(sha256);
    if (configuration === undefined) continue;
    configured.push(configuration);
    addConfiguration(found.configurations, sha256, configuration, listed.run);
    // No collector was deployed with a schedule that cannot be read here: what hides when runs were due is damage.
    const { scheduleProblem: problem } = configuration;
    if (isNew && problem !== undefined) findings.find('damaged', configurationKey(sha256), problem);
  }
  const isDue = judged.isDue || firings?.includes(listed.run) === true;
  const isCovered = !isDue || judged.uncovered?.count === 0;
  const isListed =
    configured.length === judged.used.length && configured.every(({ clusterList }) => clusterList !== undefined);
  const hasCluster = (cluster: string) => configured.some((one) => one.clusters.has(cluster));
  const isOver = listed.run <= settled(world.now);
  clusters.add(stored, isNew, { isDue, isOver, isCovered, isListed, hasCluster });
  return true;
}

function addConfiguration(
  sealed: Seal['configurations'],
  sha256: string,
  { clusters, schedule, retentionDays }: RunConfiguration,
  run: Date,
): void {
  if (sealed.some((one) => one.sha256 === sha256)) return;
  sealed.push({ sha256, clusters: clusters.size, schedule, retentionDays, from: run.toISOString() });
}

/** Whether one of the newest records that an earlier audit could read can be read now: in a quiet archive nothing else is read. */
async function canReadSealed({ reader }: World, chain: SealChain): Promise<boolean> {
  for (const key of [...chain.records.keys()].slice(-mostTried)) {
    const name = parseRunRecordKey(key);
    if (name !== undefined && (await readRunRecord(reader, { ...name, key })).file !== undefined) return true;
  }
  return false;
}
