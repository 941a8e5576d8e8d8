import { type ComparisonResult, compare, median } from './compare';
import { type RunOptions, type RunResult, runContender } from './run-contender';
import type { Entry, Measure, Scenario } from './scenarios';

/** The result of one row over all rounds. */
export interface EntryResult {
  readonly name: string;
  readonly runs: readonly RunResult[];
  /** Medians over the rounds. */
  readonly medians: Partial<Record<Measure | 'storedBytes' | 'serverLoad', number>>;
  /** Why there are no figures. */
  readonly failed?: string;
  /** Whether the scenario allows the failure. */
  readonly isExpected?: boolean;
}

export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly rounds: number;
  readonly entries: readonly EntryResult[];
  readonly comparisons: readonly ComparisonResult[];
}

const measures = ['wallMs', 'cpuMs', 'peakBytes', 'wireBytes', 'storedBytes', 'serverLoad'] as const;

/** Runs every entry once per round, in turn. */
export async function measureScenario(
  { name, title, entries, comparisons }: Scenario,
  rounds: number,
  options: RunOptions,
  onRun: (entry: Entry, result: RunResult) => void,
): Promise<ScenarioResult> {
  const runs = new Map<string, RunResult[]>(entries.map((entry) => [entry.name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of entries) {
      const result = await runContender(entry, options);
      runs.get(entry.name)?.push(result);
      onRun(entry, result);
    }
  }
  return {
    ...{ name, title, rounds },
    entries: entries.map((entry) => summarise(entry, runs.get(entry.name) ?? [])),
    comparisons: comparisons.map((comparison) => compare(comparison, entries, runs)),
  };
}

function summarise({ name, workload, mayFail }: Entry, runs: readonly RunResult[]): EntryResult {
  const failed = runs.find((run) => run.failed !== undefined)?.failed;
  if (failed !== undefined) return { name, runs, medians: {}, failed, isExpected: mayFail !== undefined };
  const medians: { -readonly [name in keyof EntryResult['medians']]: number } = {};
  for (const measure of measures) {
    const values = runs.flatMap((run) => run[measure] ?? []);
    if (values.length > 0) medians[measure] = median(values);
  }
  if (medians.wallMs !== undefined)
    medians.wallMsPerCluster = medians.wallMs / (workload.clusters * (workload.runs ?? 1));
  return { name, runs, medians };
}
