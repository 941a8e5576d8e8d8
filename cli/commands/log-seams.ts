import { resources } from '../../archive/format/resources';
import { isStored } from '../../archive/format/run-record';
import { mapConcurrently } from '../../archive/read';
import { isAbsent } from '../archive/absent-runs';
import type { ClusterFilter } from '../archive/cluster-names';
import { isMissing, joinLogs } from '../archive/join-logs';
import type { RunReader } from '../archive/run-reader';
import { nothingInRuns } from '../archive/select-object';
import type { RunSelection } from '../archive/select-runs';
import { otherContent } from '../search/search-object';
import { atMost, byName, formatCount, formatTime } from '../terminal/format';
import { Progress } from '../terminal/progress';
import { type Column, printTable } from '../terminal/table';
import { print, printJsonArray, type Terminal } from '../terminal/terminal';
import { LogTotals } from './log-totals';

/** Clusters whose logs are read at once. */
const clustersAtOnce = 8;

/** What is kept of a run that archived a log. */
interface ListedLog {
  readonly run: Date;
  readonly sha256: string | undefined;
}

/** Most gaps whose runs a line names. */
const mostGaps = 3;

/**
 * Prints a line for each cluster whose log is frozen or empty, has gaps or cannot be joined; as JSON for each cluster.
 * @returns whether a log is damaged, or with `strict` lines may be lost
 */
export async function printSeams(
  terminal: Terminal,
  reader: RunReader,
  clusters: ClusterFilter | undefined,
  selection: RunSelection,
  { json, strict }: { readonly json?: boolean; readonly strict?: boolean },
): Promise<boolean> {
  // Of each cluster the runs that archived its log: of a fleet there is no room for more.
  const runs = new Map<string, ListedLog[]>();
  const times: Date[] = [];
  for await (const { run, outcomes, ...row } of reader.outcomes(selection, clusters?.uid)) {
    if (!isAbsent(row)) times.push(run);
    for (const { cluster, resource, ...outcome } of outcomes) {
      if (!resources[resource].holdsLog || clusters?.matches(cluster) === false) continue;
      const own = runs.get(cluster) ?? [];
      runs.set(cluster, own);
      if (isStored(outcome)) own.push({ run, sha256: outcome.sha256 });
    }
  }
  if (runs.size === 0) throw await nothingInRuns(reader, 'log', clusters);
  const progress = new Progress(terminal, 'Joining logs', { now: 'cluster by cluster', done: 0, total: runs.size });
  const join = async ([cluster, own]: readonly [string, readonly ListedLog[]]): Promise<LogTotals> => {
    const totals = new LogTotals(cluster);
    for await (const joined of joinLogs(reader, cluster, own, clusters?.uid === undefined)) {
      totals.add(joined);
      if (isMissing(joined) || joined.facts === undefined || joined.facts.sha256 === joined.sha256) continue;
      const remark = otherContent(joined.key, joined.sha256);
      reader.problems.push(remark);
      if (remark.kind !== 'note') totals.damaged += 1;
    }
    return totals;
  };
  const all: LogTotals[] = [];
  try {
    for await (const one of mapConcurrently([...runs].sort(), clustersAtOnce, join)) {
      all.push(one);
      progress.update({ done: all.length, now: one.cluster });
    }
  } finally {
    progress.stop();
  }
  const remark = (totals: LogTotals) => remarkOn(totals, (gap) => isBehindAbsent(gap, times, reader));
  const rows = rowsByWeight(all, remark);
  if (json === true) await printJsonArray(terminal.out, all.map(asJson));
  else await printTable(terminal, columns, rows);
  const silent = all.filter((one) => remark(one) === '').length;
  const others = `nothing to say of ${formatCount(silent, 'cluster')} of ${all.length}`;
  const absent = reader.absentText === undefined ? '' : ` Absent: ${reader.absentText}.`;
  await print(terminal.err, `Read the logs of ${reader.span}; ${others}.${absent}\n`);
  return all.some(({ damaged, gone, gaps }) => damaged + gone.length > 0 || (strict === true && gaps.length > 0));
}

/** A row of the table: one cluster, or all that have the same gaps and nothing else. */
interface SeamRow {
  readonly cluster: string;
  readonly logs: string;
  readonly remark: string;
}

const columns: readonly Column<SeamRow>[] = [
  { head: 'Cluster', cell: ({ cluster }) => cluster, wraps: true },
  { head: 'Logs', cell: ({ logs }) => logs, align: 'right', leftOut: 1 },
  { head: 'Log', cell: ({ remark }) => remark, wraps: true, narrowest: 20 },
];

/** Fewest clusters that share a row: a run that did not come leaves the same gap in the logs of a fleet. */
const leastShared = 4;

/** What is gone first, then what is damaged, frozen or empty, then gaps: of single clusters, and those that many share. */
function rowsByWeight(all: readonly LogTotals[], remarkOf: (totals: LogTotals) => string): SeamRow[] {
  const groups = new Map<string, LogTotals[]>();
  for (const totals of all) {
    const remark = remarkOf(totals);
    if (remark === '') continue;
    const name = weightOf(totals) === gapAlone ? remark : `${remark} of ${totals.cluster}`;
    groups.set(name, [...(groups.get(name) ?? []), totals]);
  }
  const shared = [...groups.values()].filter((own) => own.length >= leastShared);
  const single = [...groups.values()].filter((own) => own.length < leastShared).flat();
  single.sort((a, b) => weightOf(a) - weightOf(b) || byName(a.cluster, b.cluster));
  return [
    ...single.map((one) => ({ cluster: one.cluster, logs: `${one.logs}`, remark: remarkOf(one) })),
    ...shared.flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : [{ cluster: formatCount(others.length + 1, 'cluster'), logs: '', remark: remarkOf(first) }],
    ),
  ];
}

/** The weight of a cluster that has gaps and nothing else. */
const gapAlone = 5;

function weightOf({ logs, gone, damaged, frozenSince, emptySince }: LogTotals): number {
  const reasons = [gone.length > 0, damaged > 0, frozenSince !== undefined, emptySince !== undefined, logs === 0];
  const at = reasons.indexOf(true);
  return at < 0 ? gapAlone : at;
}

/** Whether the run before this one did not come. @param times of the runs that were read, oldest first */
function isBehindAbsent(gap: Date, times: readonly Date[], { due }: RunReader): boolean {
  const before = times.findLast((time) => time < gap);
  return due.some((absent) => absent.times.some((time) => time < gap && (before === undefined || time > before)));
}

/** Empty: there is nothing to say. @param isAbsentBefore whether the run before a time did not come */
function remarkOn(totals: LogTotals, isAbsentBefore: (gap: Date) => boolean): string {
  const { logs, gaps, gone, damaged, emptySince, frozenSince } = totals;
  const gapText = (gap: Date) => `${formatTime(gap)}${isAbsentBefore(gap) ? ', the run before it is absent' : ''}`;
  const before = atMost(mostGaps, gaps.map(gapText), (more) => `and ${more} more`).join(', ');
  const parts = [
    gone.length > 0 && `${formatCount(gone.length, 'log')} missing: ${spanOf(gone)}`,
    logs + gone.length === 0 && 'none was archived',
    emptySince !== undefined && `empty since ${formatTime(emptySince)}`,
    emptySince === undefined && frozenSince !== undefined && `nothing new since ${formatTime(frozenSince)}`,
    gaps.length > 0 && `lines may be lost before ${before}`,
    damaged > 0 && `${damaged} damaged`,
  ];
  return parts.filter((part) => part !== false).join('; ');
}

/** `2026-11-20T00:00:00Z`, or `2026-11-20T00:00:00Z to 2026-11-20T20:00:00Z`. */
function spanOf(times: readonly Date[]): string {
  const [first, last] = [times[0], times.at(-1)].flatMap((time) => (time ? formatTime(time) : []));
  return first === last || last === undefined ? `${first}` : `${first} to ${last}`;
}

function asJson({ cluster, logs, gaps, gone, damaged, emptySince, frozenSince }: LogTotals): object {
  const since = { frozenSince: frozenSince ?? null, emptySince: emptySince ?? null };
  return { cluster, logs, gaps, missing: gone, damaged, ...since };
}
