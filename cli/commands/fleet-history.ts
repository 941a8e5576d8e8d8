import { type FleetChange, type FleetScope, fleetChanges } from '../archive/fleet-changes';
import type { RunReader } from '../archive/run-reader';
import { formatCount, formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { print, printJsonArray, type Terminal } from '../terminal/terminal';

/** What has one line: the changes of a run, or those of a cluster. */
export const groupings = ['run', 'cluster'] as const;

export interface FleetHistoryOptions extends FleetScope {
  readonly by: (typeof groupings)[number];
  /** Most lines. */
  readonly limit: number;
  readonly json?: boolean | undefined;
}

/** Changes that stand in one line, oldest first; there is at least one. */
type Group = Pick<FleetChange, 'cluster' | 'run' | 'change'>[];

/** Most clusters, or runs, that a line names. */
const mostNamed = 100;

/** Prints what changed in a fleet, newest first; as JSON each change, oldest first. */
export async function printFleetHistory(
  terminal: Terminal,
  reader: RunReader,
  options: FleetHistoryOptions,
): Promise<void> {
  const { by, limit, json, resource } = options;
  if (json === true) {
    await printJsonArray(terminal.out, fleetChanges(reader, options));
    return;
  }
  const groups = new Map<string, Group>();
  let changes = 0;
  for await (const { cluster, run, change } of fleetChanges(reader, options)) {
    const name = by === 'cluster' ? cluster : `${formatTime(run)} ${change}`;
    const group = groups.get(name) ?? [];
    group.push({ cluster, run, change });
    // The group of the newest change comes last.
    groups.delete(name);
    groups.set(name, group);
    if (change !== 'first') changes += 1;
  }
  const newestFirst = [...groups.values()].reverse();
  // No table: a cell of a hundred names would be a narrow column of many lines.
  for (const group of newestFirst.slice(0, limit))
    await print(terminal.out, `${by === 'cluster' ? lineOfCluster(terminal, group) : lineOfRun(terminal, group)}\n`);
  const stopped =
    newestFirst.length > limit
      ? ` The list stopped after ${limit} of ${newestFirst.length}; --limit sets how many.`
      : '';
  const { runs, oldest, newest } = reader;
  const period = oldest && newest ? `, ${formatTime(oldest)} to ${formatTime(newest)}` : '';
  const what = formatCount(changes, `change of a ${resource}`, `changes of ${resource}s`);
  await print(
    terminal.err,
    `${what} in ${formatCount(runs, 'run')}${period}. diff CLUSTER --run TIME shows one.${stopped}\n`,
  );
}

/** `2026-11-20T10:00:00Z changed: 2 clusters: prod-1, prod-2`. */
function lineOfRun({ colors }: Pick<Terminal, 'colors'>, group: Group): string {
  const [{ run, change } = none] = group;
  const colored = change === 'first' ? colors.cyan(change) : colors.yellow(change);
  const which = names(group.map(({ cluster }) => cluster));
  return `${formatTime(run)} ${colored}: ${formatCount(group.length, 'cluster')}: ${which}`;
}

/** `prod-1: 2 times: 2026-11-20T10:00:00Z (changed back), 2026-11-20T09:00:00Z (changed)`. */
function lineOfCluster({ colors }: Pick<Terminal, 'colors'>, group: Group): string {
  const [{ cluster } = none] = group;
  const which = names(group.map(({ run, change }) => `${formatTime(run)} (${change})`).reverse());
  return `${colors.cyan(printable(cluster))}: ${formatCount(group.length, 'time')}: ${which}`;
}

const none = { cluster: '', run: new Date(Number.NaN), change: 'first' } as const;

function names(all: readonly string[]): string {
  const more = all.length - mostNamed;
  return printable(`${all.slice(0, mostNamed).join(', ')}${more > 0 ? `, and ${more} more; --json has all` : ''}`);
}
