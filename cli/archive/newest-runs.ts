import { type Run, readRun, take } from '../../archive/read';
import { formatAge, formatCount, formatTime } from '../terminal/format';
import { totalOf } from '../terminal/print-run';
import type { RunReader } from './run-reader';
import { runsNewestFirst } from './select-runs';

/** A run, and how much of the fleet it was about. */
export interface NewestRun {
  readonly run: Run;
  /** Clusters of the configuration that it worked with, and how many of them it covers; undefined: it cannot be read. */
  readonly configured: { readonly all: number; readonly covered: number } | undefined;
}

/** Runs that are read at most to find one that covers every configured cluster. */
const mostPartial = 100;

/**
 * The newest run, and if it covers only a part of what was configured, the newest behind it that covers all; the newest
 * first. Empty if there is none.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function newestRuns(reader: RunReader): Promise<readonly NewestRun[]> {
  const { archive, now } = reader;
  const found: NewestRun[] = [];
  for await (const listed of take(mostPartial, runsNewestFirst(archive, {}, now))) {
    const run = await readRun(archive, listed);
    const configured = await configuredFor(reader, run);
    // A run of the schedule is about all of them, even if a shard left no record.
    const isScheduled = run.starts.some(({ trigger }) => trigger === 'schedule');
    const isWhole = isScheduled || configured === undefined || configured.covered === configured.all;
    if (found.length === 0 || isWhole) found.push({ run, configured });
    if (isWhole) break;
  }
  return found;
}

async function configuredFor(reader: RunReader, run: Run): Promise<NewestRun['configured']> {
  const clusters = (await reader.configurationOf(run))?.clusters;
  if (clusters === undefined) return undefined;
  const covered = new Set(run.outcomes.map(({ cluster }) => cluster).filter((cluster) => clusters.has(cluster)));
  return { all: clusters.size, covered: covered.size };
}

/**
 * How the newest run ended, and how much of the fleet it was about: `2026-11-20T09:00:00Z, 6 h ago: complete, 600 of 600
 * archived`, or `…: 2 of 300 configured clusters, complete, 4 of 4 archived`.
 */
export function describeNewest({ run, configured }: NewestRun, now: Date): string {
  const age = formatAge(now.getTime() - run.run.getTime());
  const isPart = configured !== undefined && configured.covered < configured.all;
  const part = isPart ? `${configured.covered} of ${formatCount(configured.all, 'configured cluster')}, ` : '';
  return `${formatTime(run.run)}, ${age}: ${part}${run.status}, ${run.counts.archived} of ${totalOf(run.counts)} archived`;
}
