import { isInShard } from '../../lambda/run/shard';
import { isStored, type Run } from '../../lambda/verify/read-run';
import { printTable } from '../terminal/table';
import type { Terminal } from '../terminal/terminal';

/** Rows of the table; what lies beyond is in the records. */
const shownShards = 40;

/** What became of each shard of a run. */
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
