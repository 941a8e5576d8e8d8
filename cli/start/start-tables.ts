import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import { isInShard } from '../../lambda/run/shard';
import type { Run } from '../../lambda/verify/read-run';
import { formatBytes } from '../terminal/format';
import { type Column, printTable } from '../terminal/table';
import type { Terminal } from '../terminal/terminal';

export function outcomeColumns(
  { colors }: Pick<Terminal, 'colors'>,
  rows: readonly RunOutcome[],
): Column<RunOutcome>[] {
  const hasKeys = rows.some(({ key }) => key !== undefined);
  return [
    { head: 'Cluster', cell: (row) => row.cluster, wraps: true },
    { head: 'Resource', cell: (row) => row.resource },
    {
      head: 'Outcome',
      cell: (row) => row.outcome,
      color: (text, row) => (row.key === undefined ? colors.red(text) : colors.green(text)),
    },
    { head: 'Content', cell: (row) => formatBytes(row.bytes), align: 'right', leftOut: 3 },
    { head: 'Stored', cell: (row) => formatBytes(row.storedBytes), align: 'right', leftOut: 2 },
    ...(hasKeys ? [{ head: 'Object', cell: (row: RunOutcome) => row.key ?? '', leftOut: 1 }] : []),
  ];
}

/** Most rows of the table of shards. */
const shownShards = 40;

/** Prints what each shard of a run archived. */
export async function printShards(terminal: Terminal, { shards, outcomes, records }: Run): Promise<void> {
  const rows = Array.from({ length: Math.min(shards, shownShards) }, (_, index) => {
    const own = outcomes.filter(({ cluster }) => isInShard(cluster, { index, count: shards }));
    return {
      index,
      clusters: new Set(own.map(({ cluster }) => cluster)).size,
      archived: own.filter(isStored).length,
      missing: own.filter((outcome) => !isStored(outcome)).length,
      attempts: records.filter((key) => key.includes(`.shard-${index}-of-${shards}.`)).length,
    };
  });
  await printTable(
    terminal,
    [
      { head: 'Shard', cell: ({ index }) => `${index} of ${shards}` },
      { head: 'Clusters', cell: ({ clusters }) => `${clusters}`, align: 'right' },
      { head: 'Archived', cell: ({ archived }) => `${archived}`, align: 'right' },
      { head: 'Not archived', cell: ({ missing }) => `${missing}`, align: 'right' },
      { head: 'Attempts', cell: ({ attempts }) => `${attempts}`, align: 'right' },
    ],
    rows,
  );
}
