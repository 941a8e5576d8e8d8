import { parseRunRecordKey } from '../archive/archive-layout';
import { groupReasons } from '../run/group-reasons';
import type { AuditPlan } from '../stack-contract';
import type { ArchiveReader } from '../verify/archive-reader';
import { Expiry } from '../verify/expiry';
import { openDamage } from '../verify/seals/open-damage';
import { largestSealBytes, mostNamed, type Seal, sealSchema } from '../verify/seals/seal';
import { unsealedStamps } from '../verify/seals/seal-stamps';
import { largestStateBytes, type SealState } from '../verify/seals/seal-state';
import { SealedArchive } from '../verify/seals/sealed-archive';
import { StoredConfigurations } from '../verify/stored-configurations';
import { type AuditWalk, findUnlessExpired, settled } from './audit-walk';
import { checkOpen } from './check-open';
import { type Findings, fitting, jsonBytes } from './findings';
import { judgeRuns, judgeSeals } from './judge-due';
import { judgeOld, newPass, passesOf } from './judge-old';
import { judgeUnnamed } from './judge-unnamed';
import { LogSeams } from './log-seams';
import { isMailDue } from './mail';
import { readNew } from './read-new';
import { SealedRuns } from './sealed-runs';
import { stoppableReader } from './stoppable-reader';
import { Tally } from './tally';

export interface ExamineContext extends Pick<AuditWalk, 'plan' | 'stop' | 'chain' | 'now'> {
  readonly reader: ArchiveReader;
  readonly findings: Findings;
  /** What is known of the seal before. */
  readonly begun: Pick<Seal, 'archive' | 'seal' | 'keyArn' | 'collectorVersion'>;
}

/** What an audit computed: a seal that still has to name its state, and that state. */
export interface Examined {
  readonly seal: Omit<Seal, 'state'>;
  readonly state: SealState;
}

/** Room in a seal, and in a state, for what is not a long list: in bytes. */
const reserveBytes = 2 * 1024 * 1024;

/**
 * Works through the archive in the order of what matters: hashes run records, looks for what is gone and what no record
 * has, reads objects with the time that is left.
 * @returns what it computed, to be signed
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function examine(context: ExamineContext): Promise<Examined> {
  const { plan, chain, findings, now, begun } = context;
  const reader = stoppableReader(context.reader, context.stop);
  const { head, next } = chain;
  const { find } = findings;
  const tally = new Tally(chain.state.failing, plan.clusters);
  const sealed = new SealedArchive(chain, find, { now, plan });
  const configurations = new StoredConfigurations(context.reader, find, tally.sharedName);
  const expiry = new Expiry({ reader: context.reader, configurations, now });
  const mayHaveRemoved = async (writtenAt: Date, key?: string) =>
    sealed.mayHaveRemoved(writtenAt, key) ?? expiry.mayHaveRemoved(writtenAt);
  const { searchedTo } = chain.state.cursor;
  const from = searchedTo === null ? undefined : new Date(Date.parse(searchedTo) + 1);
  const search = { from, to: settled(now) };
  const incomplete = new Map<number, string>();
  const walk: AuditWalk = { ...context, reader, find, incomplete, sealed, configurations, expiry, mayHaveRemoved };
  const mostBytes = largestSealBytes - reserveBytes;
  const runs = await SealedRuns.read(walk, search, tally, mostBytes);
  judgeSeals(walk, begun.seal, runs);
  for (const gone of sealed.gone({})) {
    const run = parseRunRecordKey(gone.key)?.run;
    if (run !== undefined && (await findUnlessExpired(walk, gone))) incomplete.set(run.getTime(), gone.key);
  }
  for (const one of runs.lacking) await findUnlessExpired(walk, one);
  const due = await judgeRuns(walk, runs);
  const { records, objects } = runs;
  const unrecorded = await judgeUnnamed(walk, search, runs);
  // Reading the objects takes longest, and a run record of a large fleet needs the memory.
  for (const recorded of [runs.met.named, runs.met.awaited]) recorded.clear();
  const checked = await checkOpen(walk);
  const logs = new LogSeams(reader, chain.state.logs, plan.clusters.length, plan.frozenAfterHours);
  const read = await readNew(walk, next.number, runs, logs);
  const isAllNewRead = read.position.seal > next.number;
  const old = isAllNewRead ? await judgeOld(walk, [...runs.runs]) : undefined;
  const required = plan.clusters.filter(({ optional }) => !optional).map(({ uid }) => uid);
  const failing = tally.freshness.failing(required);
  const flapping = tally.freshness.flapping(required);
  const failures = failing.map(({ cluster, failure }) => failure ?? { cluster, error: 'no new run covers it' });
  const lastRun = [...runs.runs].at(-1);
  const configured = plan.clusters.map(({ uid }) => uid);
  const carried = { failing: failing.map(({ failure, ...one }) => one), logs: logs.news.result(configured, false) };
  const mostOpenBytes = largestStateBytes - reserveBytes - jsonBytes(carried);
  const { repaired, found, ...left } = findings.settle(chain, checked, begun.seal, mostOpenBytes);
  // What no state has room for is found again by judging everything again.
  const { listing, reading } = old ?? passesOf(walk);
  const passes = { listing, reading: left.openMore === 0 ? reading : newPass(now, 'reading') };
  const summary = {
    ...tally.result(),
    repaired,
    lastRun: lastRun === undefined ? null : new Date(lastRun).toISOString(),
    reasons: groupReasons(failures),
    flapping: { count: flapping.length, first: flapping.slice(0, mostFlapping) },
  };
  const openMore = passes.reading?.isDone ? 0 : Math.max(left.openMore, chain.state.openMore);
  const own = { seal: begun.seal, plan: sealedPlan(plan, head, begun.seal), summary, ...left, openMore };
  const { count: damage, acknowledged, unreadable } = openDamage(own);
  const seal: Examined['seal'] = {
    version: 1,
    ...begun,
    previous: head === undefined ? null : { key: head.key, sha256: head.sha256 },
    ...next,
    listedFrom: now.toISOString(),
    records,
    objects: [...objects, ...fitting([...(unrecorded ?? []), ...(old?.hashed ?? [])], mostBytes - runs.bytes)],
    stamps: await unsealedStamps(context.reader, chain),
    unread: { behind: runs.lastKey, keys: runs.unread.slice(0, mostNamed) },
    plan: own.plan,
    configurations: runs.configurations,
    due,
    verified: {
      objects: read.objects + (old?.objects ?? 0),
      old: old?.objects ?? 0,
      bytes: read.bytes + (old?.bytes ?? 0),
      carriedOver: isAllNewRead ? 0 : Math.max(0, (head?.verified.carriedOver ?? 0) + runs.toVerify - read.objects),
      carriedOverRecords: runs.carriedOver,
      all: old?.all ?? head?.verified.all ?? null,
    },
    found,
    open: { damage, acknowledged: acknowledged.length, unreadable: unreadable.length },
  };
  const state = {
    ...left,
    openMore,
    summary,
    ...carried,
    logs: { ...carried.logs, isMailed: isMailDue(own, head) },
    cursor: {
      searchedTo: unrecorded === undefined ? searchedTo : search.to.toISOString(),
      verified: read.position,
      ...passes,
    },
  };
  return { seal, state };
}

/**
 * What a seal has of what the audit was deployed with. An erasure without an end ends with the first seal that has it.
 * @param before the seal before
 * @param seal the time of the audit
 */
export function sealedPlan(
  { erased, ...plan }: AuditPlan,
  before: Pick<Seal, 'plan'> | undefined,
  seal: string,
): Seal['plan'] {
  const endOf = ({ cluster, from, why }: NonNullable<typeof erased>[number]) =>
    before?.plan.erased?.find((one) => one.cluster === cluster && one.from === from && one.why === why)?.to ?? seal;
  const ended = erased?.map((one) => ({ ...one, to: one.to ?? endOf(one) }));
  return sealSchema.shape.plan.parse({ ...plan, ...(ended && { erased: ended }), clusters: plan.clusters.length });
}

/** Most clusters that fail now and then that are named. */
const mostFlapping = 50;
