import { parseObjectKey, type RunRecordName, type Shard } from '../archive/archive-layout';
import type { Resource } from '../resources';
import type { Outcome, RunRecord } from './run-record';

/** What earlier attempts of a run left behind. */
export interface RunHistory {
  /** Attempts of the same run and shard so far. */
  readonly attempts: number;
  /** Clusters that the run's first record covers; of all shards, where no shard is asked for. */
  readonly clusters: ReadonlySet<string>;
  /** What is archived, by {@link taskName}. */
  readonly archived: ReadonlyMap<string, Outcome>;
}

/** Where records come from. */
export interface RecordSource {
  list(run: Date, signal: AbortSignal): Promise<RunRecordName[]>;
  read(name: RunRecordName, signal: AbortSignal): Promise<RunRecord>;
}

export interface HistoryQuery {
  readonly run: Date;
  readonly shard?: Shard | undefined;
  readonly signal: AbortSignal;
  /** A record that cannot be read costs nothing but requests: conditional writes keep the archive right. */
  readonly onUnreadable: (error: unknown) => void;
  /** Whether an error means this one record only, rather than the archive. */
  readonly isUnreadable: (error: unknown) => boolean;
}

export function taskName({ cluster, resource }: { cluster: string; resource: Resource }): string {
  return `${resource}/${cluster}`;
}

/**
 * Reads every record of a run rather than the last alone: an attempt on a few clusters, or one beside another, knows
 * nothing of the rest.
 */
export async function readHistory(source: RecordSource, query: HistoryQuery): Promise<RunHistory> {
  const { run, shard, signal } = query;
  const all = await source.list(run, signal);
  const names = shard === undefined ? all : all.filter((name) => isSameShard(name.shard, shard));
  const archived = new Map<string, Outcome>();
  const clusters = new Set<string>();
  const firstOf = new Set<string>();
  for (const name of names) {
    const record = await readOrReport(source, name, query);
    if (record === undefined) continue;
    for (const outcome of record.outcomes) remember(archived, outcome, run);
    const part = JSON.stringify(name.shard ?? null);
    if (!firstOf.has(part)) for (const { cluster } of record.outcomes) clusters.add(cluster);
    firstOf.add(part);
  }
  const attempts = all.filter((name) => isSameShard(name.shard, shard)).at(-1)?.attempt ?? 0;
  return { attempts, clusters, archived };
}

async function readOrReport(source: RecordSource, name: RunRecordName, query: HistoryQuery) {
  try {
    return await source.read(name, query.signal);
  } catch (error) {
    if (!query.isUnreadable(error)) throw error;
    query.onUnreadable(error);
    return undefined;
  }
}

function remember(archived: Map<string, Outcome>, outcome: Outcome, run: Date): void {
  if (outcome.outcome !== 'archived' && outcome.outcome !== 'already-archived') return;
  const name = outcome.key === undefined ? undefined : parseObjectKey(outcome.key);
  const isOwn =
    name?.cluster === outcome.cluster && name.resource === outcome.resource && name.run.getTime() === run.getTime();
  if (!isOwn) return;
  const known = archived.get(taskName(outcome));
  // A hash from the attempt that archived it stays; what a later attempt cost is not this one's cost.
  if (known?.sha256 !== undefined) return;
  const { attempts, durationMs, httpStatus, error, ...facts } = outcome;
  archived.set(taskName(outcome), { ...facts, outcome: 'already-archived' });
}

function isSameShard(a: Shard | undefined, b: Shard | undefined): boolean {
  return a?.index === b?.index && a?.count === b?.count;
}
