import type { Resource } from '../../lambda/resources';
import { isStored, type RunOutcome } from '../../lambda/run/run-record';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { mapConcurrently } from '../../lambda/verify/map-concurrently';
import { type Run, readRun } from '../../lambda/verify/read-run';
import { factsOf, headConcurrency } from '../archive/cluster-objects';
import { isSameContent } from '../archive/same-content';
import { findRun, findRunAt, NoSuchRunError } from '../archive/select-runs';
import { formatBytes, formatCount, formatTime } from '../terminal/format';
import { printBadRecords } from '../terminal/print-run';
import { type Column, printTable } from '../terminal/table';
import { type ExitCode, exitCodes, print, printJson, type Terminal } from '../terminal/terminal';
import type { DiffSelection } from './diff-cluster';

interface Side {
  /** What became of it in that run; undefined where the run did not cover it. */
  readonly outcome: RunOutcome['outcome'] | undefined;
  readonly sha256: string | undefined;
  /** Of the text of a log. */
  readonly logSha256?: string | undefined;
  readonly bytes: number | undefined;
}

/** `new` and `gone`: only one of the runs covered the cluster. `unknown`: not archived in both, so that nothing can be said. */
type Change = 'same' | 'changed' | 'new' | 'gone' | 'unknown';

interface ClusterChange {
  readonly cluster: string;
  readonly change: Change;
  readonly from: Side;
  readonly to: Side;
}

/**
 * Prints which clusters changed between two runs, from the hashes in the run records.
 * @throws NoSuchRunError if there are no two runs to compare
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function diffRuns(
  terminal: Terminal,
  reader: ArchiveReader,
  options: DiffSelection & { readonly resource: Resource; readonly json?: boolean },
): Promise<ExitCode> {
  const { resource } = options;
  const [before, after] = await selectTwoRuns(reader, options, terminal.now());
  const old = outcomesOf(before, resource);
  const now = outcomesOf(after, resource);
  const clusters = [...new Set([...old.keys(), ...now.keys()])].sort();
  const changes: ClusterChange[] = [];
  const counts: Record<Change, number> = { same: 0, changed: 0, new: 0, gone: 0, unknown: 0 };
  const compare = async (cluster: string): Promise<ClusterChange> => {
    const from = await sideOf(reader, old.get(cluster));
    const to = await sideOf(reader, now.get(cluster));
    return { cluster, change: changeOf(from, to), from, to };
  };
  for await (const change of mapConcurrently(clusters, headConcurrency, compare)) {
    counts[change.change] += 1;
    if (change.change !== 'same') changes.push(change);
  }
  const badRecords = [...before.badRecords, ...after.badRecords];
  if (options.json === true) {
    const from = before.run.toISOString();
    const to = after.run.toISOString();
    await printJson(terminal.out, { resource, from, to, counts, clusters: changes, badRecords });
  } else {
    await printChanges(terminal, resource, before, after, changes, counts);
  }
  await printBadRecords(terminal, badRecords);
  if (counts.changed + counts.new + counts.gone > 0) return exitCodes.found;
  return counts.unknown + badRecords.length > 0 ? exitCodes.trouble : exitCodes.ok;
}

/** @throws NoSuchRunError if one of them is not there, or both are the same */
async function selectTwoRuns(
  reader: ArchiveReader,
  { run, at, from, to }: DiffSelection,
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

function outcomesOf({ outcomes }: Run, resource: Resource): Map<string, RunOutcome> {
  return new Map(outcomes.filter((outcome) => outcome.resource === resource).map((o) => [o.cluster, o]));
}

/** A hash that the record lacks is in the object's own metadata. */
async function sideOf(reader: ArchiveReader, outcome: RunOutcome | undefined): Promise<Side> {
  if (outcome === undefined || !isStored(outcome) || outcome.key === undefined || outcome.sha256 !== undefined)
    return sideWith(outcome?.outcome, outcome?.sha256, outcome?.bytes, outcome?.logSha256);
  const facts = await factsOf(reader, { key: outcome.key });
  return sideWith(outcome.outcome, facts?.sha256, facts?.length, facts?.logSha256);
}

function sideWith(
  outcome: Side['outcome'],
  sha256: Side['sha256'],
  bytes: Side['bytes'],
  logSha256: Side['logSha256'],
): Side {
  return { outcome, sha256, ...(logSha256 !== undefined && { logSha256 }), bytes };
}

function changeOf(from: Side, to: Side): Change {
  if (from.outcome === undefined) return 'new';
  if (to.outcome === undefined) return 'gone';
  const isSame = isSameContent(from, to);
  return isSame === undefined ? 'unknown' : isSame ? 'same' : 'changed';
}

async function printChanges(
  terminal: Terminal,
  resource: Resource,
  before: Run,
  after: Run,
  changes: readonly ClusterChange[],
  counts: Readonly<Record<Change, number>>,
): Promise<void> {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const parts = (['changed', 'new', 'gone', 'unknown', 'same'] as const)
    .filter((change) => counts[change] > 0)
    .map((change) => `${counts[change]} ${change}`);
  await print(
    terminal.out,
    `${resource === 'log' ? 'Logs' : 'Manifests'} of ${formatCount(total, 'cluster')} between the runs ` +
      `${formatTime(before.run)} and ${formatTime(after.run)}: ${parts.join(', ')}\n`,
  );
  await printTable(terminal, changeColumns(terminal), changes);
}

export function changeColumns({ colors }: Pick<Terminal, 'colors'>): Column<ClusterChange>[] {
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
