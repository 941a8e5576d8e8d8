import { type Resource, resourceNames, resources } from '../../archive/format/resources';
import { isStored } from '../../archive/format/run-record';
import { isLate } from '../../archive/read';
import { reasonsText } from '../../lambda/group-reasons';
import { type AbsentRow, isAbsent } from '../archive/absent-runs';
import type { ClusterFilter } from '../archive/cluster-names';
import { type HeldOutcome, isStoredOrExpired } from '../archive/held-outcomes';
import type { RunReader, RunRow } from '../archive/run-reader';
import { byName, formatCount, formatTime } from '../terminal/format';
import { doubtOf } from '../terminal/print-run';
import { printable } from '../terminal/printable';
import { type Column, printTable } from '../terminal/table';
import { print, type Terminal } from '../terminal/terminal';

/** Prints what became of one cluster, run by run; of a pattern, since when each is not archived. @param rows with their outcomes alone */
export async function printClusterRuns(
  terminal: Terminal,
  reader: RunReader,
  { uid: cluster }: ClusterFilter,
  rows: readonly RunRow[],
): Promise<void> {
  if (cluster === undefined) return printAnswers(terminal, rows);
  const said = [answerOf(cluster, rows), reader.lists.leftText(cluster)].filter((text) => text !== undefined);
  for (const text of said) await print(terminal.out, `${printable(text)}\n`);
  if (rows.some(({ outcomes }) => outcomes.length > 0)) await printTable(terminal, columns(terminal), folded(rows));
}

/** A line for each cluster, by name. */
async function printAnswers(terminal: Terminal, rows: readonly RunRow[]): Promise<void> {
  const clusters = [...new Set(rows.flatMap(({ outcomes }) => outcomes.map(({ cluster }) => cluster)))];
  for (const cluster of clusters.sort(byName)) {
    const own = rows.map((row) => ({ run: row.run, outcomes: row.outcomes.filter((one) => one.cluster === cluster) }));
    await print(terminal.out, `${printable(answerOf(cluster, own) ?? cluster)}\n`);
  }
}

/** A run, and how many of the same became of the cluster the same. */
type FoldedRow = RunRow & { readonly last?: Date; readonly equal?: number };

/** Runs one after the other that did not archive it for the same reason are one row. */
function folded(rows: readonly RunRow[]): FoldedRow[] {
  const found: FoldedRow[] = [];
  for (const row of rows) {
    const before = found.at(-1);
    const isSame = before !== undefined && wordsOf(row) !== undefined && wordsOf(row) === wordsOf(before);
    if (isSame) found[found.length - 1] = { ...before, last: row.run, equal: (before.equal ?? 1) + 1 };
    else found.push(row);
  }
  return found;
}

/** What a row says of a run that archived nothing; undefined: it archived something, or is absent. */
function wordsOf({ outcomes }: RunRow): string | undefined {
  if (outcomes.length === 0 || outcomes.some(isStored)) return undefined;
  return [...outcomes.map(({ resource, outcome }) => `${resource} ${outcome}`), reasonsOf(outcomes)].join();
}

function timeOf({ run, last, equal = 1 }: FoldedRow): string {
  return last === undefined
    ? formatTime(run)
    : `${formatTime(run)} to ${formatTime(last)}, ${formatCount(equal, 'run')}`;
}

/** A run, with the outcomes of one cluster. */
type Covering = Pick<RunRow, 'run' | 'outcomes'>;

/** Since when it is not archived, in how many runs, and why; undefined: none of the runs covers it. */
function answerOf(cluster: string, rows: readonly Covering[]): string | undefined {
  const covering = rows.filter(({ outcomes }) => outcomes.length > 0);
  const isWhole = ({ outcomes }: Covering) => outcomes.every(isStoredOrExpired);
  const failed = covering.slice(covering.findLastIndex(isWhole) + 1);
  const [first, last] = [failed[0], covering.at(-1)];
  if (last === undefined) return undefined;
  const missed = covering.filter((run) => !isWhole(run)).length;
  const often = `not archived whole in ${missed} of ${formatCount(covering.length, 'run')}`;
  if (first === undefined)
    return `${cluster}: archived by the run ${formatTime(last.run)}${missed === 0 ? ' and all before it here' : `; ${often}`}.`;
  const why = reasonsText(failed.flatMap(({ outcomes }) => outcomes.filter((one) => !isStoredOrExpired(one))));
  const since =
    failed.length === covering.length ? `at least since ${formatTime(first.run)}` : `since ${formatTime(first.run)}`;
  return `${cluster}: not archived whole ${since}, ${formatCount(failed.length, 'run')}: ${why} (${often}).`;
}

function outcomeOf({ outcomes }: RunRow, resource: Resource): HeldOutcome | undefined {
  return outcomes.find((outcome) => outcome.resource === resource);
}

function columns({ colors }: Pick<Terminal, 'colors'>): Column<FoldedRow>[] {
  const ofResource = (resource: Resource, head: string): Column<FoldedRow> => ({
    head,
    cell: (row) => (isAbsent(row) ? '' : outcomeText(row.run, outcomeOf(row, resource))),
    color: (text, row) => {
      const outcome = outcomeOf(row, resource);
      return outcome === undefined || isStoredOrExpired(outcome) ? text : colors.red(text);
    },
  });
  return [
    { head: 'Run', cell: timeOf, wraps: true, narrowest: 20 },
    ...resourceNames.map((resource) => ofResource(resource, resources[resource].heading)),
    {
      head: 'Reason or doubt',
      cell: (row) => (isAbsent(row) ? absentText(row) : reasonsOf(row.outcomes)),
      color: (text, row) => (isAbsent(row) ? colors.red(text) : text),
      wraps: true,
    },
  ];
}

function outcomeText(run: Date, outcome: HeldOutcome | undefined): string {
  if (outcome === undefined) return 'not covered';
  return `${outcome.outcome}${isLate(run, outcome.fetchedAt) ? ', late' : ''}`;
}

/** Log and manifest mostly fail for the same reason, which is said once. */
function reasonsOf(outcomes: readonly HeldOutcome[]): string {
  const failed = reasonsText(outcomes.filter((outcome) => !isStored(outcome)));
  const doubts = outcomes.flatMap((outcome) => doubtOf(outcome) ?? []);
  return [...new Set([failed, ...doubts])].filter((text) => text !== '').join('; ');
}

/** `absent`, or of several in a row how many and the last of them. */
export function absentText({ run, times, areMore }: AbsentRow): string {
  if (times.length === 1) return 'absent';
  const count = `${areMore ? 'more than ' : ''}${formatCount(times.length, 'run')}`;
  return `absent: ${count} up to ${formatTime(times.at(-1) ?? run)}`;
}
