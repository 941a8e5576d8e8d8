import type { Run } from '../../lambda/verify/read-run';
import { formatAge, formatCount, formatTime } from '../terminal/format';
import { totalOf } from '../terminal/print-run';

/** A run, and how much of the fleet it was about. */
export interface NewestRun {
  readonly run: Run;
  /** Clusters of the configuration that it worked with, and how many of them it covers; undefined: it cannot be read. */
  readonly configured: { readonly all: number; readonly covered: number } | undefined;
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
