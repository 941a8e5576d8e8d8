import { runPrefix, sealKey } from '../archive/archive-layout';
import type { AuditPlan } from '../stack-contract';
import type { Stop } from '../stop';
import type { ArchiveReader } from '../verify/archive-reader';
import { describeAbsent } from '../verify/due-runs';
import { Expiry } from '../verify/expiry';
import type { Run } from '../verify/read-run';
import type { Hashed, Position, Seal } from '../verify/seals/seal';
import type { SealChain } from '../verify/seals/seal-chain';
import { SealedArchive } from '../verify/seals/sealed-archive';
import { StoredConfigurations } from '../verify/stored-configurations';
import { dayMs, underWayMs } from '../verify/time-limits';
import type { VerifiedRun } from '../verify/verify-run';
import { type DueSince, dueSince } from './due-since';
import { findUnrecorded } from './find-unrecorded';
import type { Findings } from './findings';
import { type FailingCluster, Freshness, hoursBetween, type StaleCluster, staleness } from './freshness';
import { ManifestChanges } from './manifest-changes';
import { type SealedRuns, sealRuns } from './seal-runs';
import { StoppableReader } from './stoppable-reader';
import { type VerifySealedContext, verifySealed } from './verify-sealed';

export interface ExamineContext {
  readonly plan: AuditPlan;
  readonly reader: ArchiveReader;
  readonly sink: { readonly bucket: string };
  readonly stop: Stop;
  readonly chain: SealChain;
  readonly findings: Findings;
  readonly listedFrom: Date;
  readonly collectorVersion: string;
}

/** What an audit read, as its seal and its mail tell it. */
export interface Examined {
  readonly seal: Omit<Seal, 'seal'>;
  /** Runs with new records: how many of them are complete. */
  readonly runs: { readonly complete: number; readonly incomplete: number };
  readonly failing: readonly FailingCluster[];
  readonly stale: readonly StaleCluster[];
  /** Since the last run that has a record; 0 if there is none. */
  readonly hoursSinceRun: number;
  readonly changed: ManifestChanges['changed'];
  readonly doubts: { readonly count: number; readonly first: readonly string[] };
  /** Of the new runs, uncompressed and stored. */
  readonly growth: { readonly objects: number; readonly bytes: number; readonly storedBytes: number };
  readonly isFirst: boolean;
}

/** Most clusters with a doubt that the mail names. */
const mostDoubts = 5;

/**
 * Works through the archive in the order of what matters: hashes run records, looks for what is gone and what no record
 * has, reads objects with the time that is left.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function examine(context: ExamineContext): Promise<Examined> {
  const { plan, chain, findings, listedFrom, stop } = context;
  const reader = new StoppableReader(context.reader, stop.working);
  const { find } = findings;
  const before = chain.seals.at(-1);
  const number = chain.lastNumber + 1;
  const tally = new Tally(new Freshness(chain.failing));
  const sealed = new SealedArchive(chain, find);
  sealed.addRetention(plan.retentionDays, listedFrom);
  const configurations = new StoredConfigurations(context.reader, find);
  const expiry = new Expiry(context.reader, configurations, listedFrom, undefined);
  const mayHaveRemoved = async (writtenAt: Date, key?: string) =>
    sealed.mayHaveRemoved(writtenAt, listedFrom, key) ?? expiry.mayHaveRemoved(writtenAt, noRuns);
  const searchedTo = dateOrUndefined(before?.cursor.searchedTo ?? null);
  const search = { from: searchedTo, to: new Date(listedFrom.getTime() - underWayMs) };
  const common = { reader, stop: stop.starting, find };
  const runs = await sealRuns({
    ...common,
    chain,
    sealed,
    configurations,
    expiry,
    now: listedFrom,
    search,
    onRun: tally.add,
  });
  for (const gone of sealed.gone({}))
    if (!chain.objects.has(gone.key) && !(await mayHaveRemoved(gone.writtenAt, gone.key)))
      find('missing', gone.key, gone.problem);
  for (const { kind, key, problem, writtenAt } of runs.lacking)
    if (!(await mayHaveRemoved(writtenAt, key))) find(kind, key, problem);
  const due = await judgeDue(context, runs, mayHaveRemoved);
  const [absent] = due.absent;
  if (absent !== undefined)
    find('absent', `${runPrefix(absent)}*`, describeAbsent({ times: due.absent, areMore: false }));
  const clusters = new Set([...plan.clusters.map(({ uid }) => uid), ...tally.clusters]);
  const unrecorded =
    runs.lastKey === null
      ? await findUnrecorded({
          ...common,
          ...search,
          now: listedFrom,
          clusters,
          recorded: runs.recorded,
          mayHaveRemoved,
        })
      : undefined;
  const verified = await verify({ ...common, sealed, current: { ...runs, number }, mayHaveRemoved }, context, runs);
  const failing = tally.freshness.failing(plan.clusters);
  const { last } = chain;
  return {
    ...tally.result(),
    failing,
    stale: staleness(failing, listedFrom),
    hoursSinceRun: runs.runs.size === 0 ? 0 : hoursBetween([...runs.runs].at(-1) ?? 0, listedFrom),
    isFirst: before === undefined,
    seal: {
      version: 1,
      number,
      archive: context.sink.bucket,
      previous: last === undefined ? null : { key: last.key, sha256: last.sha256 },
      listedFrom: listedFrom.toISOString(),
      records: runs.records,
      objects: distinct([...runs.objects, ...(unrecorded ?? [])]),
      plan: { clusters: plan.clusters.length, ...planned(plan) },
      configurations: runs.configurations,
      due: { runs: due.runs, absent: due.absent.map((time) => time.toISOString()) },
      verified: verified.verified,
      ...findings.summary,
      failing: failing.map(({ failures, ...one }) => one),
      cursor: {
        records: runs.lastKey,
        searchedTo: (unrecorded === undefined ? searchedTo : search.to)?.toISOString() ?? null,
        ...verified.cursor,
      },
      collectorVersion: context.collectorVersion,
    },
  };
}

function planned({ schedule, retentionDays, shards }: AuditPlan): Omit<Seal['plan'], 'clusters'> {
  return { schedule, ...(retentionDays !== undefined && { retentionDays }), ...(shards !== undefined && { shards }) };
}

/**
 * Runs that are settled and were due since the last audit that judged. What was due before the first seal nobody attests.
 * While the plan changed, only what all plans have was due for sure. An audit that did not read all run records cannot
 * judge: one that it did not read may name another schedule.
 */
async function judgeDue(
  { plan, chain, listedFrom, findings }: ExamineContext,
  { runs, lastKey, configurations }: SealedRuns,
  mayHaveRemoved: (writtenAt: Date) => Promise<boolean>,
): Promise<DueSince> {
  const [firstSeal] = chain.seals;
  const before = chain.seals.findLast(({ cursor }) => cursor.records === null) ?? firstSeal;
  const [firstRun = Number.NaN] = runs;
  if (firstSeal === undefined || before === undefined || Number.isNaN(firstRun) || lastKey !== null)
    return { runs: 0, absent: [] };
  const settled = (time: number) => time - underWayMs;
  const from = Math.max(settled(Date.parse(before.listedFrom)), Date.parse(firstSeal.listedFrom), firstRun);
  const to = new Date(settled(listedFrom.getTime()));
  const known = chain.seals.findLastIndex((seal) => Date.parse(seal.listedFrom) <= from);
  const schedules = [
    plan.schedule,
    ...chain.seals.slice(known).map((seal) => seal.plan.schedule),
    // A plan may have been in force between two audits only.
    ...[...chain.seals.slice(known + 1), { configurations }].flatMap((seal) =>
      seal.configurations.map(({ schedule }) => schedule),
    ),
  ];
  try {
    const due = dueSince(schedules, { from: new Date(from), to }, runs);
    const absent: Date[] = [];
    for (const time of due.absent) if (!(await mayHaveRemoved(time))) absent.push(time);
    return { ...due, absent };
  } catch (error) {
    if ((error as Error).name !== 'CronError') throw error;
    findings.find('unreadable', sealKey({ number: chain.lastNumber + 1, part: 'seal' }), (error as Error).message);
    return { runs: 0, absent: [] };
  }
}

/** Reads the objects of new records first, and old content again with what time is left. */
async function verify(
  common: Omit<VerifySealedContext, 'isAgain'>,
  { plan: { rereadDays }, chain, listedFrom }: ExamineContext,
  runs: SealedRuns,
): Promise<Pick<Seal, 'verified'> & { readonly cursor: Pick<Seal['cursor'], 'verified' | 'reread'> }> {
  const before = chain.seals.at(-1);
  const { number } = common.current;
  const news = await verifySealed({ ...common, isAgain: false }, before?.cursor.verified ?? start, number);
  const again = rereadDays === undefined ? undefined : (before?.cursor.reread ?? { position: null, since: listedFrom });
  const pass = again && passOf(again, listedFrom, rereadDays ?? 0);
  const old =
    pass?.position && news.isDone
      ? await verifySealed({ ...common, isAgain: true }, pass.position, number - 1)
      : undefined;
  const position = old?.isDone ? null : (old?.position ?? pass?.position ?? null);
  const carriedOver = news.isDone ? 0 : (before?.verified.carriedOver ?? 0) + runs.toVerify - news.objects;
  return {
    verified: {
      objects: news.objects + (old?.objects ?? 0),
      bytes: news.bytes + (old?.bytes ?? 0),
      carriedOver: Math.max(0, carriedOver),
      carriedOverRecords: runs.carriedOver,
    },
    cursor: { verified: news.position, ...(pass && { reread: { position, since: pass.since } }) },
  };
}

const start: Position = { seal: 1, record: 0, outcome: 0 };

/** Goes on with a pass over old content, or begins the next once the last one is old enough. */
function passOf(
  { position, since }: { readonly position: Position | null; readonly since: Date | string },
  now: Date,
  rereadDays: number,
): { readonly position: Position | null; readonly since: string } {
  const began = new Date(since);
  const isNext = position === null && now.getTime() - began.getTime() >= rereadDays * dayMs;
  return isNext ? { position: start, since: now.toISOString() } : { position, since: began.toISOString() };
}

/** Sums up the runs with new records. */
class Tally {
  readonly freshness: Freshness;
  readonly clusters = new Set<string>();
  readonly #changes = new ManifestChanges();
  readonly #doubtful: string[] = [];
  readonly #runs = { complete: 0, incomplete: 0 };
  readonly #growth = { objects: 0, bytes: 0, storedBytes: 0 };
  #doubts = 0;

  constructor(freshness: Freshness) {
    this.freshness = freshness;
  }

  readonly add = (run: Run, isNew: boolean): void => {
    this.#changes.add(run.run, run.outcomes);
    for (const { cluster } of run.outcomes) this.clusters.add(cluster);
    if (!isNew) {
      this.freshness.addKnown(run.run, run.outcomes);
      return;
    }
    this.freshness.add(run.run, run.outcomes);
    if (run.status === 'complete') this.#runs.complete += 1;
    else this.#runs.incomplete += 1;
    this.#growth.objects += run.counts.archived;
    this.#growth.bytes += run.bytes;
    this.#growth.storedBytes += run.storedBytes;
    this.#doubts += run.counts.doubts;
    for (const { cluster, resource, doubt } of run.outcomes)
      if (doubt !== undefined && this.#doubtful.length < mostDoubts)
        this.#doubtful.push(`${resource} of ${cluster}: ${doubt}`);
  };

  result(): Pick<Examined, 'runs' | 'changed' | 'doubts' | 'growth'> {
    const doubts = { count: this.#doubts, first: this.#doubtful };
    return { runs: this.#runs, changed: this.#changes.changed, doubts, growth: this.#growth };
  }
}

/** What is in the archive is in the listing; there are no other runs to look at. */
async function* noRuns(): AsyncGenerator<VerifiedRun> {}

function dateOrUndefined(time: string | null): Date | undefined {
  return time === null ? undefined : new Date(time);
}

function distinct(hashed: readonly Hashed[]): Hashed[] {
  return [...new Map(hashed.map((one) => [one.key, one])).values()];
}
