import type { Resource } from '../../lambda/resources';
import type { RunOutcome } from '../../lambda/run/run-record';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type Run, readRun } from '../../lambda/verify/read-run';
import { isSameContent } from '../archive/cluster-objects';
import { withMetadata } from '../archive/list-outcomes';
import { findRun, findRunAt, NoSuchRunError, type RunSelection } from '../archive/select-runs';
import { formatBytes, formatCount, formatCounts, formatTime } from '../terminal/format';
import { printBadRecords } from '../terminal/print-run';
import { type Column, printTable } from '../terminal/table';
import { type Ending, print, printJson, type Terminal } from '../terminal/terminal';

/** `run` or `at`: that run against the one before it; `from` and `to`: the runs at or before these times. */
export interface DiffOptions extends Omit<RunSelection, 'last'> {
  readonly resource: Resource;
  readonly json?: boolean;
}

/** What became of it in that run; empty where the run did not cover it. */
type Side = Partial<Pick<RunOutcome, 'outcome' | 'sha256' | 'logSha256' | 'bytes'>>;

/** `new` and `gone`: only one of the runs covered the cluster. `unknown`: not archived in both, so that nothing can be said. */
type Change = 'same' | 'changed' | 'new' | 'gone' | 'unknown';

interface ClusterChange {
  readonly cluster: string;
  readonly change: Change;
  readonly from: Side;
  readonly to: Side;
}

interface Difference extends Pick<DiffOptions, 'resource'> {
  readonly from: Date;
  readonly to: Date;
  readonly counts: Readonly<Record<Change, number>>;
  /** Those that are not the same. */
  readonly clusters: readonly ClusterChange[];
}

/**
 * Prints which clusters changed between two runs, from the hashes in the run records.
 * @throws NoSuchRunError if there are no two runs to compare
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function diffRuns(terminal: Terminal, reader: ArchiveReader, options: DiffOptions): Promise<Ending> {
  const { resource } = options;
  const [before, after] = await selectTwoRuns(reader, options, terminal.now());
  const old = await sidesOf(reader, before, resource);
  const now = await sidesOf(reader, after, resource);
  const clusters: ClusterChange[] = [];
  const counts = { same: 0, changed: 0, new: 0, gone: 0, unknown: 0 };
  for (const cluster of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [from, to] = [old.get(cluster) ?? {}, now.get(cluster) ?? {}];
    const change = changeOf(from, to);
    counts[change] += 1;
    if (change !== 'same') clusters.push({ cluster, change, from, to });
  }
  const badRecords = [...before.badRecords, ...after.badRecords];
  const difference = { resource, from: before.run, to: after.run, counts, clusters, badRecords };
  if (options.json === true) await printJson(terminal.out, difference);
  else await printDifference(terminal, difference);
  await printBadRecords(terminal, badRecords);
  if (counts.changed + counts.new + counts.gone > 0) return 'found';
  return counts.unknown + badRecords.length > 0 ? 'trouble' : 'ok';
}

async function selectTwoRuns(
  reader: ArchiveReader,
  { run, at, from, to }: DiffOptions,
  now: Date,
): Promise<[Run, Run]> {
  const after = run === undefined ? await findRunAt(reader, at ?? to, now) : await findRun(reader, run);
  const before = await findRunAt(reader, from ?? new Date(after.run.getTime() - 1), now);
  if (before.run.getTime() === after.run.getTime())
    throw new NoSuchRunError(
      `Finding two runs to compare failed: the period has only one, ${formatTime(after.run)}; runs lists them`,
    );
  return [await readRun(reader, before), await readRun(reader, after)];
}

/** By cluster. A hash that the record lacks is in the object's own metadata. */
async function sidesOf(reader: ArchiveReader, { outcomes }: Run, resource: Resource): Promise<Map<string, Side>> {
  const sides = new Map<string, Side>();
  const own = outcomes.filter((outcome) => outcome.resource === resource);
  for await (const { cluster, outcome, sha256, logSha256, bytes } of withMetadata(reader, own))
    sides.set(cluster, { outcome, sha256, logSha256, bytes });
  return sides;
}

function changeOf(from: Side, to: Side): Change {
  if (from.outcome === undefined) return 'new';
  if (to.outcome === undefined) return 'gone';
  const isSame = isSameContent(from, to);
  return isSame === undefined ? 'unknown' : isSame ? 'same' : 'changed';
}

async function printDifference(
  terminal: Terminal,
  { resource, from, to, counts: { same, ...others }, clusters }: Difference,
): Promise<void> {
  const total = Object.values(others).reduce((sum, count) => sum + count, same);
  await print(
    terminal.out,
    `${resource === 'log' ? 'Logs' : 'Manifests'} of ${formatCount(total, 'cluster')} between the runs ` +
      `${formatTime(from)} and ${formatTime(to)}: ${formatCounts({ ...others, same })}\n`,
  );
  await printTable(terminal, changeColumns(terminal), clusters);
}

function changeColumns({ colors }: Pick<Terminal, 'colors'>): Column<ClusterChange>[] {
  const shown = ({ outcome, sha256, bytes }: Side) =>
    sha256 === undefined ? (outcome ?? 'not covered') : `${sha256.slice(0, 12)} ${formatBytes(bytes)}`;
  return [
    { head: 'Cluster', cell: ({ cluster }) => cluster, wraps: true },
    {
      head: 'Change',
      cell: ({ change }) => change,
      color: (text, { change }) => (change === 'changed' ? colors.yellow(text) : colors.cyan(text)),
    },
    { head: 'SHA-256 and size before', cell: ({ from }) => shown(from), leftOut: 1 },
    { head: 'SHA-256 and size after', cell: ({ to }) => shown(to), leftOut: 2 },
  ];
}
