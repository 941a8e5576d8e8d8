import type { AuditPlan } from '../stack-contract';
import type { Stop } from '../stop';
import type { ArchiveReader } from '../verify/archive-reader';
import { Expiry } from '../verify/expiry';
import type { Hashed, Seal } from '../verify/seals/seal';
import type { SealChain } from '../verify/seals/seal-chain';
import { SealedArchive } from '../verify/seals/sealed-archive';
import { StoredConfigurations } from '../verify/stored-configurations';
import { underWayMs } from '../verify/time-limits';
import type { ConfiguredRun } from '../verify/verify-run';
import { judgeDue } from './due-since';
import { findUnrecorded } from './find-unrecorded';
import type { Findings } from './findings';
import { type FailingCluster, hoursBetween, type StaleCluster, staleness } from './freshness';
import { sealRuns } from './seal-runs';
import { StoppableReader } from './stoppable-reader';
import { type Tallied, Tally } from './tally';
import { verifyInTurn } from './verify-in-turn';

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
export interface Examined extends Tallied {
  readonly seal: Omit<Seal, 'seal'>;
  readonly failing: readonly FailingCluster[];
  readonly stale: readonly StaleCluster[];
  /** Since the last run that has a record; 0 if there is none. */
  readonly hoursSinceRun: number;
  readonly isFirst: boolean;
}

/**
 * Works through the archive in the order of what matters: hashes run records, looks for what is gone and what no record
 * has, reads objects with the time that is left.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function examine(context: ExamineContext): Promise<Examined> {
  const { plan, chain, findings, listedFrom, stop } = context;
  const reader = new StoppableReader(context.reader, stop.working);
  const { find } = findings;
  const { before } = chain;
  const number = chain.lastNumber + 1;
  const tally = new Tally(chain.failing, plan.clusters);
  const sealed = new SealedArchive(chain, find);
  sealed.addRetention(plan.retentionDays, listedFrom);
  const configurations = new StoredConfigurations(context.reader, find, tally.sharedName);
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
    sharedName: tally.sharedName,
    onRun: tally.add,
  });
  for (const gone of sealed.gone({}))
    if (!chain.objects.has(gone.key) && !(await mayHaveRemoved(gone.writtenAt, gone.key)))
      find('missing', gone.key, gone.problem);
  for (const { kind, key, problem, writtenAt } of runs.lacking)
    if (!(await mayHaveRemoved(writtenAt, key))) find(kind, key, problem);
  const due = await judgeDue({ plan, chain, listedFrom, find, mayHaveRemoved }, runs);
  const unrecorded =
    runs.lastKey === null
      ? await findUnrecorded({
          ...common,
          ...search,
          now: listedFrom,
          clusters: tally.clusters,
          recorded: runs.recorded,
          mayHaveRemoved,
        })
      : undefined;
  // Reading the objects takes longest.
  runs.recorded.clear();
  const verified = await verifyInTurn(
    { ...common, sealed, current: { ...runs, number }, mayHaveRemoved },
    context,
    runs,
  );
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

/** What is in the archive is in the listing; there are no other runs to look at. */
async function* noRuns(): AsyncGenerator<ConfiguredRun> {}

function dateOrUndefined(time: string | null): Date | undefined {
  return time === null ? undefined : new Date(time);
}

function distinct(hashed: readonly Hashed[]): Hashed[] {
  return [...new Map(hashed.map((one) => [one.key, one])).values()];
}
