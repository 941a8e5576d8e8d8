import type { X509Certificate } from 'node:crypto';
import { dayMs, settled } from '../format/clocks';
import type { Find } from '../format/finding';
import { clusterPrefix, sealsPrefix } from '../format/keys';
import { resourceNames } from '../format/resources';
import type { ArchiveReader } from '../read/archive-reader';
import { allClusters, type Clusters, clusterNames, namedClusters } from '../read/clusters';
import { readStoredRun } from '../read/read-run';
import { isWithin, type ListedRun, type Period, runsBetween } from '../read/run-keys';
import { StoredConfigurations } from '../read/stored-configurations';
import { checkObject } from './check-object';
import { type AbsentRuns, absentFindings, DueRuns, earliest, joinSpans } from './due-runs';
import { Expiry } from './expiry';
import { judge } from './judge';
import { judgeRest } from './judge-rest';
import { isInPart, type Part, partFiles } from './part';
import { readChain } from './seals/read-chain';
import type { ChainOptions, SealChain } from './seals/seal-chain';
import { absentSeals, planOf, shorterRetentions } from './seals/seal-plans';
import { impossibleTimes, lateStamps, readStamps, unstampedFindings } from './seals/seal-stamps';
import { runsBefore, runsUntilScheduled, seenRun } from './seen-run';
import { Tally, type Verified, type VerifyCounts } from './tally';
import { drain, type Judged, type World } from './world';

export interface VerifyOptions extends Period, Pick<ChainOptions, 'publicKeys'> {
  /** What a folder was copied for, in place of a period, judged as of its newest seal; left out: the archive is whole. */
  readonly part?: Part | undefined;
  /** The cluster whose objects are judged, beside all run records and seals; left out: all clusters. */
  readonly cluster?: string | undefined;
  /** SHA-256 of seals that have to be in the chain, as mails told them. */
  readonly heads?: readonly string[] | undefined;
  /** Roots of authorities of time stamps that the user trusts; left out: those that the seals' own plans name. */
  readonly stampRoots?: readonly X509Certificate[] | undefined;
  /** With `stampRoots`: seals from this time on have to be stamped; left out: all. */
  readonly stampedSince?: Date | undefined;
  /** The time, if the archive has no clock of its own. */
  readonly now: Date;
  /** Objects read at once. */
  readonly concurrency: number;
  /** Called now and then with how many of all runs are done. */
  readonly onProgress?: (done: number, total: number, counts: VerifyCounts) => void;
}

/** What the judgement of the archive shares with that of its chain. */
interface Verification {
  readonly reader: ArchiveReader;
  readonly options: VerifyOptions;
  readonly chain: SealChain;
  readonly tally: Tally;
  /** The archive's own time; undefined: it has no clock. */
  readonly clock: Date | undefined;
  readonly now: Date;
}

const notOfPart = 'not of the cluster and the period that were asked for';

/** Runs that are judged at once: of one cluster, their keys and the one behind them are one answer of S3. */
const runsAtOnce = 999;

/**
 * Judges all slices of a period, and the chain of seals, and says what was due and is not there. Without a period, it
 * looks at the rest of the archive too. Memory does not depend on object size; each object of a slice costs a few bits.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function verifyArchive(reader: ArchiveReader, options: VerifyOptions): Promise<Verified> {
  const { part, heads, from, to } = options;
  const clock = await reader.time();
  const now = clock ?? options.now;
  const broken: Parameters<Find>[] = [];
  const chain = await readChain(reader, options, (...finding) => broken.push(finding));
  const tally = new Tally(chain, { mails: heads, isPart: part !== undefined });
  const verification = { reader, options, chain, tally, clock, now };
  await judgeChain(verification, broken);
  const configurations = new StoredConfigurations(reader);
  await judgeRuns(verification, configurations);
  const known = part === undefined ? [] : partFiles;
  if (from === undefined && to === undefined)
    for await (const finding of judgeRest(reader, configurations, known)) tally.add(finding);
  for (const finding of configurations.findings) tally.add(finding);
  return tally.verdict();
}

/** @param broken what is wrong with the chain itself */
async function judgeChain(verification: Verification, broken: readonly Parameters<Find>[]): Promise<void> {
  const { reader, options, chain, tally, now } = verification;
  const { publicKeys, part, heads, stampRoots, stampedSince: since } = options;
  const { files, seals, head } = chain;
  // What is not as the user says, no seal can acknowledge.
  const differs = (problem: string) => tally.say({ kind: 'seal-broken', key: `${sealsPrefix}*`, problem });
  if (publicKeys !== undefined && files === 0) differs('a public key was given, and the archive has no seal');
  if (files === 0 && stampRoots !== undefined)
    differs('an authority of time stamps was given, and the archive has no seal');
  for (const problem of chain.lostMails(heads)) differs(problem);
  for (const finding of broken) tally.find(...finding);
  if (files === 0) return;
  // A part has no seals that were made after it was taken.
  const until = part === undefined ? settled(now) : new Date(head?.listedFrom ?? 0);
  for (const finding of absentSeals(seals, part ?? options, until)) tally.add(finding);
  if (part === undefined) for (const finding of shorterRetentions(chain, seals, now)) tally.add(finding);
  const newest = head && { number: head.number, sha256: head.sha256, seal: head.seal, archive: head.archive };
  const { counting: stamps, findings } = await readStamps(reader, chain, stampRoots);
  for (const finding of [...findings, ...impossibleTimes(chain, stamps, now)]) tally.add(finding);
  if (stampRoots !== undefined)
    for (const finding of unstampedFindings(chain, stamps, { since, now: options.now })) tally.add(finding);
  const ofEach = new Map(stamps.map((stamp) => [stamp.authority, stamp]));
  tally.counts.sealed = {
    seals: seals.length,
    newest: newest ?? null,
    stamps: [...ofEach.values()],
    late: lateStamps(chain, stamps),
  };
}

async function judgeRuns(verification: Verification, configurations: StoredConfigurations): Promise<void> {
  const { reader, options, chain, tally, clock, now } = verification;
  const { part, heads: mails, from, to, concurrency, onProgress } = options;
  const { sealed, counts } = tally;
  const period = part ?? options;
  // What was due or written up to then, and is not there, does not come any more. Nobody adds to a part.
  const due = new DueRuns({ from: period.from, to: earliest(settled(now), period.to) });
  // What is wrong beside the period is not the business of this verification.
  const readBeside = async (run: ListedRun) => seenRun(await readStoredRun(reader, run), configurations);
  // The lifecycle runs once a day. What is gone from a part was gone when it was taken.
  const taken = part && chain.head && new Date(Date.parse(chain.head.seal) + dayMs);
  const isPart = part !== undefined;
  const expiry = new Expiry({ reader, configurations, chain, mails, isPart, now: taken ?? now });
  const absent: AbsentRuns[] = [];
  const times = new Set<number>();

  const { periods, total } = await dividePeriod(verification);
  const clusters = await listClusters(verification);
  const world: World = {
    ...{ reader, concurrency, configurations, sealed, expiry, now, check: checkObject, valid: new Map() },
    isBucket: clock !== undefined,
    settled: isPart ? undefined : settled(now),
  };
  const observe = (judged: Judged) => {
    tally.take(judged);
    if (!('run' in judged)) return;
    const { run } = judged;
    absent.push(due.add(run));
    times.add(run.run.getTime());
    onProgress?.(counts.runs, total, counts);
  };
  for (const run of await runsBefore(reader, options, readBeside)) absent.push(due.add(run));
  for (const one of periods) await drain(judge({ ...one, clusters, depth: 'content' }, world), observe);
  for (const run of await runsUntilScheduled(reader, { from, to }, readBeside)) absent.push(due.add(run));
  // Where there is no clock, nothing fires: the archive is a folder, such as a copy.
  if (to === undefined && clock !== undefined) absent.push(due.upTo(settled(now), chain.head && planOf(chain.head)));
  const sealedAbsent = chain.seals.flatMap((seal) => seal.due.absent.map((time) => new Date(time)));
  const stillAbsent = sealedAbsent.filter((time) => isWithin(time, period) && !times.has(time.getTime()));
  await judgeAbsent(tally, expiry, absent, stillAbsent);
}

/** Divides a period into those of slices. Together they have all times of it, also those that no run record is of. */
async function dividePeriod({ reader, options, tally: { find } }: Verification) {
  const { from, to, part = {} } = options;
  const periods: Period[] = [];
  let total = 0;
  let start = from;
  for await (const { run, records } of runsBetween(reader, { from, to }, find)) {
    if (!isWithin(run, part)) for (const { key } of records) find('unrecorded', key, notOfPart);
    total += 1;
    if (total % runsAtOnce > 0) continue;
    periods.push({ from: start, to: run });
    start = new Date(run.getTime() + 1);
  }
  return { periods: [...periods, { from: start, to }], total };
}

async function listClusters({
  reader,
  options: { part, cluster: only },
  tally: { find },
}: Verification): Promise<Clusters> {
  const names = await clusterNames(reader, find);
  if (part === undefined) return only === undefined ? allClusters(names) : namedClusters([only]);
  for (const cluster of names)
    for (const resource of cluster === part.cluster ? [] : resourceNames)
      for await (const { key } of reader.list(clusterPrefix(resource, cluster))) find('unrecorded', key, notOfPart);
  return { names: names.filter((cluster) => cluster === part.cluster), has: (name) => isInPart(part, name) };
}

/** @param sealed firings that the audit missed, and the archive's own configurations may not show */
async function judgeAbsent(
  tally: Tally,
  expiry: Expiry,
  found: readonly AbsentRuns[],
  sealed: readonly Date[],
): Promise<void> {
  tally.counts.notJudged = joinSpans(found);
  const said = new Set(found.flatMap((one) => one.times.map(Number)));
  const others = sealed.filter((time) => !said.has(time.getTime()));
  for (const { times: due, areMore } of [...found, { times: others, areMore: false }]) {
    const absent: Date[] = [];
    for (const time of due) if (!(await expiry.mayHaveRemoved({ writtenAt: time }))) absent.push(time);
    for (const finding of absentFindings({ times: absent, areMore })) tally.add(finding);
  }
}
