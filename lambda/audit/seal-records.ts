import { settled } from '../../archive/format/clocks';
import { configurationKey, parseRunRecordKey } from '../../archive/format/keys';
import type { Firings } from '../../archive/format/schedule/firings';
import type { Hashed, Seal } from '../../archive/format/seal';
import { type JudgedRun, judgeRun, type Met, type Sealed, take } from '../../archive/prove/attest';
import {
  ArchiveReadError,
  allClusters,
  isWithin,
  type ListedRun,
  type Period,
  type RunConfiguration,
  readRunRecord,
  runsBetween,
  type StoredRun,
} from '../../archive/read';
import type { AuditJudge } from './audit-judge';
import type { ClusterOutcomes } from './cluster-outcomes';

/** What a seal has of the run records that no seal before it has. */
export class NewRecords {
  readonly records: Hashed[] = [];
  readonly configurations: Seal['configurations'] = [];
  /** Keys of those that could not be read; and why the first run record could not that could not be read, sealed or not. */
  readonly unread: string[] = [];
  problem: string | undefined;
  /** How many there was no time for, or no room in the seal. */
  carriedOver = 0;
  /** The last key that was looked at; null: all. */
  behind: string | null = null;
  /** How many objects they say that they archived. */
  archived = 0;
  /** Times of all runs that have a record, oldest first. */
  readonly runs = new Set<number>();
  /** What is sealed and listed. */
  readonly there = new Set<Sealed>();
  /** When the oldest record was written, by the archive's clock; undefined: there is none. */
  oldestWrittenAt: Date | undefined;
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
  /** Takes note of what became of the clusters. */
  readonly clusters: ClusterOutcomes;
  /** Takes note of what the records name. */
  readonly met: Met;
  /** Its runs are read although they are sealed: objects are searched for there. */
  readonly search: Period;
  /** When the audit's own plan says that runs are due; undefined: never. */
  readonly firings: Firings | undefined;
  /** How many records and objects together the seal has room for: what is behind is carried over. */
  readonly most: number;
}

/** Sealed records that are tried where no new one can be read: one may be gone, or be unreadable too. */
const mostTried = 3;

/**
 * Lists all run records, and hashes and judges those that no seal has.
 * @throws ArchiveReadError if nothing of what was to be read could be read
 */
export async function sealRecords(judge: AuditJudge, options: SealRecordsOptions): Promise<NewRecords> {
  const found = new NewRecords();
  let last = '';
  for await (const run of changedRuns(judge, options.search, found)) {
    const isRead = found.behind === null && (await judge.inTime(() => readRun(run, found, { judge, ...options })));
    if (isRead === true) last = run.listed.records.map(({ key }) => key).reduce((a, b) => (a > b ? a : b), last);
    else {
      found.carriedOver += run.unsealed.size;
      found.behind ??= last;
    }
  }
  if (found.problem !== undefined && found.records.length === 0 && !(await canReadSealed(judge)))
    throw new ArchiveReadError(found.problem);
  return found;
}

/**
 * Lists all runs, also when the time is over, and gives those that have to be read. One that comes before a new run is among
 * them: a cluster that fails since then was archived there last, and a manifest may have changed since.
 */
async function* changedRuns(
  { archive, chain, find }: AuditJudge,
  search: Period,
  found: NewRecords,
): AsyncGenerator<ChangedRun> {
  /** The run before, unless it was given. */
  let before: ListedRun | undefined;
  for await (const listed of runsBetween(archive, {}, find)) {
    found.runs.add(listed.run.getTime());
    const unsealed = new Set<string>();
    let isRewritten = false;
    // Where the newest states are lost, what was new to their audits is new again.
    let isSinceState = false;
    for (const { key, writtenAt } of listed.records) {
      const sealed = chain.records.get(key);
      if (sealed === undefined) unsealed.add(key);
      else found.there.add(sealed);
      isSinceState ||= sealed !== undefined && sealed.by.number > (chain.stateOf?.number ?? 0);
      // S3 wrote a sealed record anew after it was listed for its seal.
      isRewritten ||= sealed !== undefined && writtenAt > new Date(sealed.by.listedFrom);
      if (found.oldestWrittenAt === undefined || writtenAt < found.oldestWrittenAt) found.oldestWrittenAt = writtenAt;
    }
    const isNew = unsealed.size > 0 || isSinceState;
    const isRead = isNew || isRewritten || isWithin(listed.run, search);
    if (isNew && before !== undefined) yield { listed: before, unsealed: new Set(), isNew: false };
    if (isRead) yield { listed, unsealed, isNew };
    before = isRead ? undefined : listed;
  }
}

interface ReadRunContext extends SealRecordsOptions {
  readonly judge: AuditJudge;
}

/** A call of its own: a variable of the loop would keep the outcomes of a run while those of the next are read. @returns whether the seal has room for it */
async function readRun(
  { listed, unsealed, isNew }: ChangedRun,
  found: NewRecords,
  { judge, clusters, met, most, firings }: ReadRunContext,
): Promise<boolean> {
  const runs: JudgedRun[] = [];
  const kept: { stored?: StoredRun } = {};
  await take(judgeRun(listed, { clusters: allClusters([]), depth: 'names' }, judge.world, met, kept), (one) => {
    judge.observe(one);
    if ('run' in one) runs.push(one.run);
  });
  const [judged] = runs;
  const { stored } = kept;
  if (judged === undefined || stored === undefined) return true;
  const { read, badRecords } = stored;
  found.problem ??= badRecords.find(({ kind }) => kind === 'unreadable')?.problem;
  const records = read.flatMap(({ key, file }) => (file && unsealed.has(key) ? { key, ...file } : []));
  if (found.records.length + records.length + judge.beside.hashed.size > most) return false;
  found.records.push(...records);
  for (const { key, file, record } of read) {
    if (!unsealed.has(key)) continue;
    if (file === undefined) found.unread.push(key);
    found.archived += record?.counts.archived ?? 0;
  }
  const configured: RunConfiguration[] = [];
  for (const { sha256 } of judged.used) {
    const configuration = await judge.configurations.get(sha256);
    if (configuration === undefined) continue;
    configured.push(configuration);
    addConfiguration(found.configurations, sha256, configuration, listed.run);
    // No collector was deployed with a schedule that cannot be read here: what hides when runs were due is damage.
    const { scheduleProblem: problem } = configuration;
    if (isNew && problem !== undefined)
      judge.observe({ finding: { kind: 'damaged', key: configurationKey(sha256), problem } });
  }
  const isDue = judged.isDue || firings?.includes(listed.run) === true;
  const isCovered = !isDue || judged.uncovered?.count === 0;
  const hasCluster = (cluster: string) => configured.some((one) => one.clusters.has(cluster));
  const isOver = listed.run <= settled(judge.now);
  clusters.add(stored, isNew, { isDue, isOver, isCovered, hasCluster });
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
async function canReadSealed({ chain, reader }: AuditJudge): Promise<boolean> {
  for (const key of [...chain.records.keys()].slice(-mostTried)) {
    const name = parseRunRecordKey(key);
    if (name !== undefined && (await readRunRecord(reader, { ...name, key })).file !== undefined) return true;
  }
  return false;
}
