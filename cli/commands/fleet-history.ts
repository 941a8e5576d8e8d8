import { type FleetScope, fleetChanges } from '../archive/fleet-changes';
import type { RunReader } from '../archive/run-reader';
import { formatCount, formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { print, printJsonArray, type Terminal } from '../terminal/terminal';

export interface FleetHistoryOptions extends FleetScope {
  /** Most lines. */
  readonly limit: number;
  readonly json?: boolean | undefined;
}

/** Most clusters that a line names. */
const mostNamed = 100;

/** Prints what changed in a fleet, newest first; as JSON each change, oldest first. */
export async function printFleetHistory(
  terminal: Terminal,
  reader: RunReader,
  options: FleetHistoryOptions,
): Promise<void> {
  const { limit, json, resource } = options;
  if (json === true) return printJsonArray(terminal.out, fleetChanges(reader, options));
  const { colors } = terminal;
  // The clusters of one line by the beginning of the line.
  const lines = new Map<string, string[]>();
  let changes = 0;
  for await (const { cluster, run, change } of fleetChanges(reader, options)) {
    const colored = change === 'first' ? colors.cyan(change) : colors.yellow(change);
    const head = `${formatTime(run)} ${colored}`;
    const names = lines.get(head) ?? [];
    names.push(cluster);
    // The line of the newest change comes last.
    lines.delete(head);
    lines.set(head, names);
    if (change !== 'first') changes += 1;
  }
  const newestFirst = [...lines].reverse();
  // No table: a cell of a hundred names would be a narrow column of many lines.
  for (const [head, names] of newestFirst.slice(0, limit))
    await print(terminal.out, `${head}: ${formatCount(names.length, 'cluster')}: ${someOf(names)}\n`);
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

function someOf(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return printable(`${names.slice(0, mostNamed).join(', ')}${more > 0 ? `, and ${more} more; --json has all` : ''}`);
}
