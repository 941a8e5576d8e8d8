import { underWayMs } from '../../archive/format/clocks';
import type { ConfiguredCluster } from '../../archive/format/configuration';
import { parseRunRecordKey, type RunRecordName, runPrefix, runRecordKey, runsPrefix } from '../../archive/format/keys';
import { changeOf } from '../../archive/format/list-in-force';
import { compareAge } from '../../archive/format/newest-records';
import type { RightSeal, SealChain } from '../../archive/prove/attest';
import {
  type ArchiveReader,
  configuredClusters,
  mapConcurrently,
  readStarts,
  type StoredConfigurations,
} from '../../archive/read';

/** Who was on a list of clusters from outside, over all runs since people got a mail. */
export interface ListMembers {
  /** How many runs. */
  readonly runs: number;
  /** Uids that were not collected before, in any of them. */
  readonly joined: readonly string[];
  /** Uids that are not collected any more. */
  readonly left: readonly string[];
  /** Clusters that were not on the list in all of the runs, though collected before and still collected: those of fewest first. */
  readonly away: readonly { readonly cluster: string; readonly listed: number }[];
  /** Uids that became optional, or lost a resource, in any of them. */
  readonly lessened: readonly string[];
  /** Times of runs that followed nothing, although there were runs before. */
  readonly anew: readonly string[];
}

export const noMembers: ListMembers = { runs: 0, joined: [], left: [], away: [], lessened: [], anew: [] };

/** Most runs that are looked at: the newest. */
const mostRuns = 2000;

/** First lines that are read at once. */
const concurrency = 16;

/** The newest seal that people got a mail of: the first of a UTC day is mailed whatever it says. Undefined: there is none. */
export function mailedSeal({ seals, head, state, stateOf }: SealChain): RightSeal | undefined {
  if (head === undefined || (stateOf === head && state.logs.isMailed)) return head;
  const dayOf = (seal: RightSeal | undefined) => seal?.seal.slice(0, 10);
  return seals.findLast((seal, at) => dayOf(seal) !== dayOf(seals[at - 1]));
}

/**
 * Goes through the configurations of all runs since then. Of a run its last record counts; a late completion, which reads no
 * list, does not.
 * @throws ArchiveReadError
 */
export async function listMembers(
  reader: ArchiveReader,
  configurations: StoredConfigurations,
  chain: SealChain,
): Promise<ListMembers> {
  const mailed = mailedSeal(chain);
  const base = await clustersOf(configurations, mailed?.plan.clusterList?.configuration);
  const usedBy = new Map<string, number>();
  const anew: string[] = [];
  let runs = 0;
  for await (const { run, starts } of mapConcurrently(await newRecords(reader, chain, mailed), concurrency, (name) =>
    readStarts(reader, {
      run: name.run,
      records: [{ ...name, key: runRecordKey(name), storedBytes: 0, writtenAt: name.run }],
    }),
  )) {
    const [start] = starts;
    if (start?.clusterList === undefined) continue;
    runs += 1;
    usedBy.set(start.configuration, (usedBy.get(start.configuration) ?? 0) + 1);
    if (start.clusterList.follows === undefined && chain.records.size > 0) anew.push(run.toISOString());
  }
  const known = new Set(base?.map(({ uid }) => uid));
  const [joined, lessened, ever] = [new Set<string>(), new Set<string>(), new Set(known)];
  const listed = new Map<string, number>();
  let newest: readonly ConfiguredCluster[] = base ?? [];
  for (const [sha256, count] of usedBy) {
    const clusters = await clustersOf(configurations, sha256);
    if (clusters === undefined) continue;
    const change = changeOf(base ?? clusters, clusters);
    for (const uid of change.joined) joined.add(uid);
    for (const uid of change.lessened) lessened.add(uid);
    for (const { uid, leaving } of clusters) {
      ever.add(uid);
      if (leaving === undefined) listed.set(uid, (listed.get(uid) ?? 0) + count);
    }
    newest = clusters;
  }
  const are = new Set(newest.map(({ uid }) => uid));
  // Those that are gone are told as that.
  const wasThere = (uid: string) => are.has(uid) && !joined.has(uid);
  const away = [...ever].filter(wasThere).flatMap((cluster) => {
    const times = listed.get(cluster) ?? 0;
    return times === runs ? [] : { cluster, listed: times };
  });
  return {
    ...{ runs, joined: [...joined], left: [...ever].filter((uid) => !are.has(uid)) },
    away: away.sort((a, b) => a.listed - b.listed || (a.cluster < b.cluster ? -1 : 1)),
    ...{ lessened: [...lessened], anew },
  };
}

async function clustersOf(configurations: StoredConfigurations, sha256: string | undefined) {
  const found = sha256 === undefined ? undefined : await configurations.get(sha256);
  return found && configuredClusters(found);
}

/** The last record of each run since a seal, oldest first. Without a seal, of the newest run alone. */
async function newRecords(
  reader: ArchiveReader,
  { records }: Pick<SealChain, 'records'>,
  mailed: RightSeal | undefined,
): Promise<RunRecordName[]> {
  const from = mailed && runPrefix(new Date(Date.parse(mailed.listedFrom) - underWayMs));
  const last = new Map<number, RunRecordName>();
  for await (const { key } of reader.list(runsPrefix, from)) {
    const name = parseRunRecordKey(key);
    const by = records.get(key)?.by;
    if (name === undefined || (by !== undefined && mailed !== undefined && by.number <= mailed.number)) continue;
    const before = last.get(name.run.getTime());
    if (before === undefined || compareAge(before, name) < 0) last.set(name.run.getTime(), name);
  }
  const names = [...last.values()].toSorted(compareAge);
  return names.slice(mailed === undefined ? -1 : -mostRuns);
}
