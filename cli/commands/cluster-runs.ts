import { type Resource, resourceNames, resources } from '../../lambda/resources';
import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import { isLate } from '../../lambda/verify/read-run';
import { clusterFilter, nearestTo } from '../archive/cluster-names';
import { isSameContent } from '../archive/cluster-objects';
import type { AbsentRow } from '../archive/overdue';
import { isAbsent, type RunReader, type RunRow } from '../archive/run-reader';
import { formatCount, formatTime } from '../terminal/format';
import { doubtOf } from '../terminal/print-run';
import { printable } from '../terminal/printable';
import { type Column, printTable } from '../terminal/table';
import { print, type Terminal } from '../terminal/terminal';

/** Prints what became of one cluster, run by run. @param rows with the outcomes of this cluster alone */
export async function printClusterRuns(
  terminal: Terminal,
  reader: RunReader,
  cluster: string,
  rows: AsyncIterable<RunRow>,
): Promise<void> {
  const shown: RunRow[] = [];
  let lastLog: RunOutcome | undefined;
  const sameText = new Set<RunOutcome>();
  for await (const row of rows) {
    shown.push(row);
    const log = outcomeOf(row, 'log');
    if (log === undefined || !isStored(log)) continue;
    if (lastLog !== undefined && isSameContent(lastLog, log) === true) sameText.add(log);
    lastLog = log;
  }
  await printTable(terminal, columns(terminal, sameText), shown);
  if (shown.some((row) => 'outcomes' in row && row.outcomes.length > 0)) return;
  const nearest = await nearestTo(reader, clusterFilter(cluster));
  await print(terminal.err, `None of these runs covers ${printable(cluster)}${nearest}.\n`);
}

function outcomeOf(row: RunRow, resource: Resource): RunOutcome | undefined {
  return 'outcomes' in row ? row.outcomes.find((outcome) => outcome.resource === resource) : undefined;
}

/** @param sameText logs with the text of the log before */
function columns({ colors }: Pick<Terminal, 'colors'>, sameText: ReadonlySet<RunOutcome>): Column<RunRow>[] {
  const ofResource = (resource: Resource, head: string): Column<RunRow> => ({
    head,
    cell: (row) => (isAbsent(row) ? '' : outcomeText(row.run, outcomeOf(row, resource), sameText)),
    color: (text, row) => {
      const outcome = outcomeOf(row, resource);
      return outcome === undefined || isStored(outcome) ? text : colors.red(text);
    },
  });
  return [
    { head: 'Run', cell: (row) => formatTime(row.run) },
    ...resourceNames.map((resource) => ofResource(resource, resources[resource].heading)),
    {
      head: 'Reason or doubt',
      cell: (row) => (isAbsent(row) ? absentText(row) : reasonsOf(row.outcomes)),
      color: (text, row) => (isAbsent(row) ? colors.red(text) : text),
      wraps: true,
    },
  ];
}

function outcomeText(run: Date, outcome: RunOutcome | undefined, sameText: ReadonlySet<RunOutcome>): string {
  if (outcome === undefined) return 'not covered';
  const late = isLate(run, outcome.fetchedAt) ? ', late' : '';
  return `${outcome.outcome}${late}${sameText.has(outcome) ? ', same text' : ''}`;
}

/** Log and manifest mostly have the same reason. */
function reasonsOf(outcomes: readonly RunOutcome[]): string {
  const reasons = outcomes.flatMap((outcome) => [outcome.error, doubtOf(outcome)]).filter((one) => one !== undefined);
  return [...new Set(reasons)].join('; ');
}

/** `absent`, or of several in a row how many and the last of them. */
export function absentText({ run, times, areMore }: AbsentRow): string {
  if (times.length === 1) return 'absent';
  const count = `${areMore ? 'more than ' : ''}${formatCount(times.length, 'run')}`;
  return `absent: ${count} up to ${formatTime(times.at(-1) ?? run)}`;
}
