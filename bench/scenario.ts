import type { Resource } from '../lambda/resources';
import type { ContenderName } from './contenders';

/** What is to be collected, from how slow a service into how slow an archive. */
export interface Workload {
  readonly clusters: number;
  readonly resources: readonly Resource[];
  readonly logBytes: number;
  readonly manifestBytes: number;
  /** Waits before each answer, in milliseconds. */
  readonly serviceLatencyMs: number;
  readonly sinkLatencyMs: number;
  /** Bodies under way at once, for contenders that have a bound. */
  readonly concurrency: number;
  /** How often all of it is collected in one process, one run after the other; 1 unless told. */
  readonly runs?: number;
}

/** One row of a scenario's table. */
export interface Entry {
  readonly name: string;
  readonly contender: ContenderName;
  readonly workload: Workload;
  /** Why it may fail: its failure is then a result, not an error. */
  readonly mayFail?: string;
}

/** One figure of a row. */
export type Measure = 'wallMs' | 'wallMsPerCluster' | 'cpuMs' | 'peakBytes';

/** A figure of one row divided by the same figure of another, and what it should reach. */
export interface Comparison {
  readonly measure: Measure;
  readonly of: string;
  readonly to: string;
  readonly atMost?: number;
}

/** Rows that are measured in turn, round after round, so that their ratios do not suffer from a machine that drifts. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly comparisons: readonly Comparison[];
}
