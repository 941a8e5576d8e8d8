import type { FlappingCluster, StaleCluster } from '../../lambda/audit/freshness';
import type { FoundStale } from '../archive/run-reader';
import { formatCount, formatStale, formatTime } from '../terminal/format';
import { type Column, printTable } from '../terminal/table';
import { print, type Terminal } from '../terminal/terminal';

/** Most clusters that each table shows. */
const shownStale = 5;

/**
 * Prints which clusters have not been archived for longest, and which fail again and again, if any.
 * @param at when it was so; left out: now
 */
export async function printStale(
  terminal: Terminal,
  { stale, notCovered, flapping }: FoundStale,
  at: Date | undefined,
): Promise<void> {
  await printTable(terminal, staleColumns(at), stale.slice(0, shownStale));
  if (stale.length > shownStale)
    await print(terminal.out, `… and ${stale.length - shownStale} more stale clusters; --json has all\n`);
  await printTable(terminal, flappingColumns, flapping.slice(0, shownStale));
  if (flapping.length > shownStale)
    await print(terminal.out, `… and ${flapping.length - shownStale} more that fail now and then; --json has all\n`);
  if (notCovered.length > 0)
    await print(terminal.out, `None of these runs covers ${formatCount(notCovered.length, 'configured cluster')}.\n`);
}

const flappingColumns: readonly Column<FlappingCluster>[] = [
  { head: 'Fails now and then', cell: ({ cluster }) => cluster, wraps: true },
  { head: 'Not archived in', cell: ({ failed, runs }) => `${failed} of ${formatCount(runs, 'run')}` },
];

function staleColumns(at: Date | undefined): Column<StaleCluster>[] {
  return [
    {
      head: at === undefined ? 'Stalest now' : `Stalest at ${formatTime(at)}`,
      cell: ({ cluster }) => cluster,
      wraps: true,
    },
    {
      head: 'Not archived for',
      cell: ({ runs, hours, lastArchived }) => formatStale(runs, hours, lastArchived === null),
    },
    {
      head: 'Last archived by the run',
      cell: ({ lastArchived }) => (lastArchived === null ? 'none of these' : formatTime(lastArchived)),
      leftOut: 1,
    },
  ];
}
