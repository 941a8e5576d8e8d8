import { hourMs } from '../../archive/format/clocks';
import { ArchiveReadError, firstOf, runsBetween } from '../../archive/read';
import { hoursBetween } from '../../lambda/audit/cluster-outcomes';
import { reasonsText } from '../../lambda/group-reasons';
import { isAbsent } from '../archive/absent-runs';
import { type ClusterFilter, noSuchCluster } from '../archive/cluster-names';
import { type HeldOutcome, isStoredOrExpired } from '../archive/held-outcomes';
import type { RunReader } from '../archive/run-reader';
import { noRuns, type RunSelection } from '../archive/select-runs';
import { byName, formatCount, formatStale, formatTime, inOneUnit } from '../terminal/format';
import { type Column, printTable } from '../terminal/table';
import { type Ending, print, printJsonArray, type Terminal } from '../terminal/terminal';

interface StaleOptions extends RunSelection {
  /** In milliseconds. */
  readonly stale: number;
  readonly cluster?: ClusterFilter;
  readonly json?: boolean;
}

/** A cluster that no run has archived whole for long enough. */
interface StaleRow {
  readonly cluster: string;
  /** The last run that archived all of it; undefined: none of those that were read. */
  readonly since: Date | undefined;
  readonly hours: number;
  /** Runs since then that cover it. */
  readonly runs: number;
  readonly reason: string;
}

const noRunSince = 'no run since covers it';

/** Most clusters that a silent schedule leaves as rows of their own. */
const mostSilent = 3;

/** What the runs that were read say of one cluster. */
interface Seen {
  archived: Date | undefined;
  /** Since it was archived. */
  runs: number;
  failures: readonly HeldOutcome[];
}

/**
 * `list --stale`: the clusters of the newest configuration that no run has archived whole for so long, the longest first, since
 * when and why. A silent schedule makes all of them stale.
 * @returns how the command ends
 * @throws ArchiveReadError if nothing was there to judge by
 */
export async function printStaleClusters(
  terminal: Terminal,
  reader: RunReader,
  options: StaleOptions,
): Promise<Ending> {
  const { stale, cluster: clusters, json, to } = options;
  const seen = new Map<string, Seen>();
  for await (const row of reader.select(options))
    if (!isAbsent(row)) addRun(seen, row.run, (await reader.held.run(row)).outcomes);
  const at = to !== undefined && to < reader.now ? to : reader.now;
  const required = (await reader.requiredClusters()) ?? [...seen.keys()];
  const asked = required.filter((cluster) => clusters?.matches(cluster) !== false);
  const first = reader.oldest ?? at;
  const judged = asked.map((cluster) => rowOf(cluster, seen.get(cluster), first, at));
  const rows = judged
    .filter(({ hours }) => hours * hourMs >= stale)
    .sort((a, b) => b.hours - a.hours || byName(a.cluster, b.cluster));
  if (json === true)
    await printJsonArray(
      terminal.out,
      rows.map((row) => ({ ...row, since: row.since ?? null })),
    );
  else {
    const silent = rows.filter(({ reason }) => reason === noRunSince);
    const others = rows.filter(({ reason }) => reason !== noRunSince);
    await printTable(terminal, columns, silent.length > mostSilent ? others : rows);
    const [last] = silent;
    if (silent.length > mostSilent && last?.since !== undefined) {
      const clusters = formatCount(silent.length, others.length > 0 ? 'other cluster' : 'cluster');
      await print(terminal.out, `${clusters}: no run since ${formatTime(last.since)}, ${inOneUnit(last.hours)}\n`);
    }
  }
  if (reader.runs === 0) throw await noRuns(reader, 'Finding stale clusters');
  if (clusters !== undefined && asked.length === 0) {
    if (![...seen.keys()].some(clusters.matches)) throw await noSuchCluster(reader, clusters);
    const why = 'the newest configuration has it as optional, or does not have it';
    throw new ArchiveReadError(`Judging cluster ${clusters.glob} failed: ${why}`);
  }
  const absent = reader.absentText === undefined ? '' : ` Absent: ${reader.absentText}.`;
  const found = `${rows.length} of ${formatCount(asked.length, 'cluster')} not archived for so long, by ${reader.span}`;
  await print(terminal.err, `${found}, at ${formatTime(at)}.${absent}\n`);
  // How long these are not archived is known only if nothing is before what was read.
  const notReached = judged.filter(({ since, hours }) => since === undefined && hours * hourMs < stale).length;
  const isCut =
    notReached > 0 && (await firstOf(runsBetween(reader.archive, { to: new Date(first.getTime() - 1) }))) !== undefined;
  if (isCut) {
    const count = formatCount(notReached, 'cluster');
    const reach = `which reach back only to ${formatTime(first)}`;
    await print(terminal.err, `Not judged: ${count}: not archived by any run that was read, ${reach}.\n`);
  }
  if (rows.length > 0) return 'found';
  return isCut ? 'trouble' : 'ok';
}

function addRun(seen: Map<string, Seen>, run: Date, outcomes: readonly HeldOutcome[]): void {
  const failed = new Map<string, HeldOutcome[]>();
  for (const outcome of outcomes) {
    const own = failed.get(outcome.cluster) ?? [];
    failed.set(outcome.cluster, own);
    if (!isStoredOrExpired(outcome)) own.push(outcome);
  }
  for (const [cluster, failures] of failed) {
    const before = seen.get(cluster);
    if (failures.length === 0) seen.set(cluster, { archived: run, runs: 0, failures });
    else seen.set(cluster, { archived: before?.archived, runs: (before?.runs ?? 0) + 1, failures });
  }
}

/** @param first the oldest run that was read: what was never archived since then is at least so old */
function rowOf(cluster: string, seen: Seen | undefined, first: Date, at: Date): StaleRow {
  const { archived: since, runs = 0, failures = [] } = seen ?? {};
  const none = seen === undefined ? 'no run covers it' : noRunSince;
  return {
    cluster,
    since,
    hours: hoursBetween((since ?? first).getTime(), at),
    runs,
    reason: reasonsText(failures) || none,
  };
}

const columns: readonly Column<StaleRow>[] = [
  { head: 'Cluster', cell: ({ cluster }) => cluster, wraps: true },
  {
    head: 'Last archived',
    cell: ({ since }) => (since === undefined ? 'by none of these' : formatTime(since)),
    leftOut: 1,
  },
  {
    head: 'Since then',
    cell: ({ runs, hours, since }) => formatStale(runs, hours, since === undefined),
    wraps: true,
    narrowest: 12,
  },
  { head: 'Why', cell: ({ reason }) => reason, wraps: true, narrowest: 20 },
];
